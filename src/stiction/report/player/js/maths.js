// Vectors are arrays of 3, quaternions wxyz, matrices column-major arrays of 16 (as WebGL takes them).

const add = (a, b) => [a[0] + b[0], a[1] + b[1], a[2] + b[2]];
const sub = (a, b) => [a[0] - b[0], a[1] - b[1], a[2] - b[2]];
const times = (a, s) => [a[0] * s, a[1] * s, a[2] * s];
const dot = (a, b) => a[0] * b[0] + a[1] * b[1] + a[2] * b[2];
const cross = (a, b) => [
  a[1] * b[2] - a[2] * b[1],
  a[2] * b[0] - a[0] * b[2],
  a[0] * b[1] - a[1] * b[0],
];
const norm = (a) => Math.hypot(a[0], a[1], a[2]);
const unit = (a) => times(a, 1 / (norm(a) || 1));
const clamp = (x, low, high) => Math.min(high, Math.max(low, x));
const mix = (a, b, w) => a + (b - a) * w;

/** The rigid motion "rotate by q, then move by p". */
function pose(p, q) {
  const [w, x, y, z] = q;
  return [
    1 - 2 * (y * y + z * z), 2 * (x * y + w * z), 2 * (x * z - w * y), 0,
    2 * (x * y - w * z), 1 - 2 * (x * x + z * z), 2 * (y * z + w * x), 0,
    2 * (x * z + w * y), 2 * (y * z - w * x), 1 - 2 * (x * x + y * y), 0,
    p[0], p[1], p[2], 1,
  ];
}

/** A frame at p whose z axis is along `axis`, stretched by r across it and by h along it. */
function along(p, axis, r, h) {
  const z = unit(axis);
  const x = unit(cross(Math.abs(z[2]) < 0.9 ? [0, 0, 1] : [1, 0, 0], z));
  const y = cross(z, x);
  return [...times(x, r), 0, ...times(y, r), 0, ...times(z, h), 0, ...p, 1];
}

function product(a, b) {
  const c = new Array(16).fill(0);
  for (let j = 0; j < 4; j++)
    for (let i = 0; i < 4; i++)
      for (let k = 0; k < 4; k++) c[4 * j + i] += a[4 * k + i] * b[4 * j + k];
  return c;
}

/** The point v moved by the affine map m. */
const moved = (m, v) => [
  m[0] * v[0] + m[4] * v[1] + m[8] * v[2] + m[12],
  m[1] * v[0] + m[5] * v[1] + m[9] * v[2] + m[13],
  m[2] * v[0] + m[6] * v[1] + m[10] * v[2] + m[14],
];

/** The direction v turned by the affine map m (not normalised). */
const turned = (m, v) => [
  m[0] * v[0] + m[4] * v[1] + m[8] * v[2],
  m[1] * v[0] + m[5] * v[1] + m[9] * v[2],
  m[2] * v[0] + m[6] * v[1] + m[10] * v[2],
];

/** World to view: the eye at the origin looking along -z, `up` upwards. */
function lookAt(eye, target, up) {
  const z = unit(sub(eye, target));
  const x = unit(cross(up, z));
  const y = cross(z, x);
  return [
    x[0], y[0], z[0], 0, x[1], y[1], z[1], 0, x[2], y[2], z[2], 0,
    -dot(x, eye), -dot(y, eye), -dot(z, eye), 1,
  ];
}

/** View to clip space; `lens` is the tangent of half the vertical angle of view. */
function perspective(lens, aspect, near, far) {
  const d = 1 / (near - far);
  return [
    1 / (lens * aspect), 0, 0, 0, 0, 1 / lens, 0, 0,
    0, 0, (near + far) * d, -1, 0, 0, 2 * near * far * d, 0,
  ];
}

/** View to clip space without perspective: a cube of half side r, `r` in front of the eye. */
const orthographic = (r) => [1 / r, 0, 0, 0, 0, 1 / r, 0, 0, 0, 0, -1 / r, 0, 0, 0, -1, 1];
