"""What every folder uses: arrays, errors, checks, files, linear algebra, compilation."""
