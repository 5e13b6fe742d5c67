// Triangle meshes in a shape's own frame, sized as MuJoCo sizes its geoms (along the local z axis).

/** The surface swept by turning the outline [radius, z, normal radius, normal z] about z. */
function revolve(outline, sides) {
  const positions = [], normals = [], indices = [];
  outline.forEach(([r, z, nr, nz], row) => {
    for (let i = 0; i <= sides; i++) {
      const a = (2 * Math.PI * i) / sides, c = Math.cos(a), s = Math.sin(a);
      positions.push(r * c, r * s, z);
      normals.push(nr * c, nr * s, nz);
      if (!row || !i) continue;
      const k = row * (sides + 1) + i, below = k - sides - 1, [r0, z0] = outline[row - 1];
      if (r === r0 && z === z0) continue; // an edge: one ring with two normals
      if (r0 > 1e-9) indices.push(below - 1, below, k); // on the axis two corners are one
      if (r > 1e-9) indices.push(below - 1, k, k - 1);
    }
  });
  return { positions, normals, indices };
}

/** Outline of a quarter circle from latitude `from` to `to` around (r, z), radius b. */
function arc(r, z, b, from, to, steps) {
  return Array.from({ length: steps + 1 }, (_, i) => {
    const a = mix(from, to, i / steps), c = Math.cos(a), s = Math.sin(a);
    return [r + b * c, z + b * s, c, s];
  });
}

const QUARTER = Math.PI / 2;

function ellipsoid(x, y, z, detail) {
  const mesh = revolve(arc(0, 0, 1, -QUARTER, QUARTER, detail), 2 * detail);
  const axes = [x, y, z];
  mesh.normals = mesh.normals.map((n, i) => n / axes[i % 3]);
  mesh.positions = mesh.positions.map((p, i) => p * axes[i % 3]);
  return mesh;
}

function capsule(r, half, detail) {
  const bottom = arc(0, -half, r, -QUARTER, 0, detail / 2);
  const top = arc(0, half, r, 0, QUARTER, detail / 2);
  return revolve([...bottom, ...top], 2 * detail);
}

function cylinder(r, half, detail) {
  const b = 0.08 * Math.min(r, half); // edges a little round catch the light
  const bottom = arc(r - b, b - half, b, -QUARTER, 0, 2);
  const top = arc(r - b, half - b, b, 0, QUARTER, 2);
  return revolve([[0, -half, 0, -1], ...bottom, ...top, [0, half, 0, 1]], 2 * detail);
}

/** A cylinder of radius and height 1 around z = 0, open above, where an arrow's head sits. */
function shaft(detail) {
  return revolve([[0, -0.5, 0, -1], [1, -0.5, 0, -1], [1, -0.5, 1, 0], [1, 0.5, 1, 0]], 2 * detail);
}

/** A cone of radius and height 1 from z = 0, closed below. */
function cone(detail) {
  const s = Math.SQRT1_2;
  return revolve([[0, 0, 0, -1], [1, 0, 0, -1], [1, 0, s, s], [0, 1, s, s]], 2 * detail);
}

function box(x, y, z) {
  const half = [x, y, z], b = 0.06 * Math.min(x, y, z);
  const positions = [], normals = [], indices = [];
  for (let axis = 0; axis < 3; axis++) {
    const u = (axis + 1) % 3, v = (axis + 2) % 3;
    const marks = (k) => [-half[k], b - half[k], half[k] - b, half[k]];
    for (const side of [-1, 1]) {
      const first = positions.length / 3;
      marks(u).forEach((pu, i) => marks(v).forEach((pv, j) => {
        // From the core (the box shrunk by b) out to the rounded surface.
        const p = [];
        p[axis] = side * half[axis]; p[u] = pu; p[v] = pv;
        const core = p.map((c, k) => clamp(c, b - half[k], half[k] - b));
        const n = unit(sub(p, core));
        positions.push(...add(core, times(n, b)));
        normals.push(...n);
        if (i && j) {
          const k = first + 4 * i + j;
          const quad = [k - 5, k - 1, k, k - 5, k, k - 4];
          indices.push(...(side > 0 ? quad : quad.reverse()));
        }
      }));
    }
  }
  return { positions, normals, indices };
}

function rectangle(x, y) {
  const positions = [-x, -y, 0, x, -y, 0, x, y, 0, -x, y, 0];
  return { positions, normals: [0, 0, 1, 0, 0, 1, 0, 0, 1, 0, 0, 1], indices: [0, 1, 2, 0, 2, 3] };
}

/** Given triangles, each with its own corners and its own normal: edges stay sharp. */
function facets(vertices, faces) {
  const positions = [], normals = [], indices = [];
  for (let i = 0; i < faces.length; i += 3) {
    const corner = (k) => Array.from(vertices.slice(3 * faces[i + k], 3 * faces[i + k] + 3));
    const [a, b, c] = [0, 1, 2].map(corner), n = cross(sub(b, a), sub(c, a));
    if (norm(n) === 0) continue;
    indices.push(...[0, 1, 2].map((k) => positions.length / 3 + k));
    positions.push(...a, ...b, ...c);
    for (let k = 0; k < 3; k++) normals.push(...unit(n));
  }
  return { positions, normals, indices };
}

const SLENDER = 6; // facets in half a turn of what is a few pixels wide

/** The mesh of a shape; `detail` is the number of facets in half a turn (even). */
function meshOf({ kind, size: s, vertices, faces }, detail) {
  switch (kind) {
    case "sphere": return ellipsoid(s[0], s[0], s[0], detail);
    case "ellipsoid": return ellipsoid(s[0], s[1], s[2], detail);
    case "capsule": return capsule(s[0], s[1], detail);
    case "cylinder": return cylinder(s[0], s[1], detail);
    case "box": return box(s[0], s[1], s[2]);
    case "plane": return rectangle(s[0], s[1]);
    case "shaft": return shaft(SLENDER);
    case "cone": return cone(SLENDER);
    case "mesh": return facets(vertices, faces);
    default: throw new Error(`no shape '${kind}'`);
  }
}
