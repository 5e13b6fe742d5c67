"""MuJoCo's model as the world: its own functions give the smooth motion and find what is near.

`machine` makes a machine of the core whose evaluator is MuJoCo; limits and dry friction of joints
and tendons are pairs of it (`joints`), equality constraints are bonds (`equality`), and `shapes`
are the vertices, edges and faces that contacts are made of. `carry_out` runs such a world and names
what touched (`found`). Nothing is compiled for another model.
"""
