"""What people look at: figures, tables and a page that opens from disk."""
