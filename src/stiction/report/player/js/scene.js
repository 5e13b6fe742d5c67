// What there is to see at a time: the data of one animation, decoded and sampled.

const floats = (text) =>
  new Float32Array(Uint8Array.from(atob(text), (c) => c.charCodeAt(0)).buffer);

const SUN = unit([-0.35, -0.55, 1]); // towards the light
const HEAD = 6.5; // length of an arrow's head over the radius of its shaft
const SHAFT = { kind: "shaft", size: [] };
const TIP = { kind: "cone", size: [] };

class Scene {
  constructor(data) {
    Object.assign(this, data);
    this.time = floats(data.time);
    this.pose = floats(data.pose); // frames x bodies x (position, quaternion)
    this.path = floats(data.path); // frames x 3, what the camera follows
    this.force = data.force && floats(data.force); // frames x contacts x (point, force)
    this.duration = this.time[this.time.length - 1];
    this.impulse = data.impulse && floats(data.impulse); // impacts x (time, point, impulse)
    const { kind, text, kinds, texts, colors } = data.events;
    this.events = Array.from(floats(data.events.time), (time, i) => ({
      time, kind: kinds[kind[i]], text: texts[text[i]], color: colors[kind[i]],
    }));
    this.thickness = 0.008 * this.radius; // of arrows
    this.detail = clamp(2 * Math.round(90 / Math.sqrt(this.shapes.length)), 12, 36); // many are small
    for (const shape of this.shapes) {
      shape.local = pose(shape.position, shape.quaternion);
      for (const part of ["vertices", "faces"]) if (shape[part]) shape[part] = floats(shape[part]);
    }
    for (const trail of this.trails) trail.points = this.trace(trail);
  }

  /** The frame at or before time t, and how far t is on the way to the next one. */
  locate(t) {
    let low = 0, high = this.time.length - 1;
    if (t >= this.time[high]) return [high, 0];
    while (high - low > 1) {
      const middle = (low + high) >> 1;
      if (this.time[middle] <= t) low = middle;
      else high = middle;
    }
    const step = this.time[high] - this.time[low];
    return [low, step > 0 ? clamp((t - this.time[low]) / step, 0, 1) : 0];
  }

  /** A row of `count` numbers out of an array of rows, between frames `k` and `k + 1`. */
  between(array, width, offset, count, [k, w]) {
    const row = [], a = k * width + offset, b = w > 0 ? a + width : a;
    for (let i = 0; i < count; i++) row.push(mix(array[a + i], array[b + i], w));
    return row;
  }

  /** World pose of a body (a negative index is the world itself). */
  bodyPose(body, place) {
    if (body < 0) return pose([0, 0, 0], [1, 0, 0, 0]);
    const x = this.between(this.pose, 7 * this.bodies, 7 * body, 7, place);
    const q = x.slice(3), size = Math.hypot(...q);
    return pose(x, q.map((c) => c / size));
  }

  trace({ body, point }) {
    return Array.from(this.time, (_, k) => moved(this.bodyPose(body, [k, 0]), point));
  }

  /** Where the camera looks at time t when it follows the motion. */
  focus(t) {
    return this.between(this.path, 3, 0, 3, this.locate(t));
  }

  /** The planes and the solid shapes at time t with their place in the world. */
  items(t, groundColor) {
    const place = this.locate(t), planes = [], solids = [];
    const bodies = new Map([[-1, this.bodyPose(-1, place)]]);
    for (let b = 0; b < this.bodies; b++) bodies.set(b, this.bodyPose(b, place));
    for (const shape of this.shapes) {
      const model = product(bodies.get(shape.body), shape.local);
      const item = { shape, model, color: shape.color ?? groundColor };
      (shape.kind === "plane" ? planes : solids).push(item);
    }
    return { planes, solids };
  }

  /** A ball around the given items. */
  bounds(items) {
    const centers = items.map((i) => i.model.slice(12, 15));
    const center = times(centers.reduce(add, [0, 0, 0]), 1 / (centers.length || 1));
    const reach = items.map((i, k) => norm(sub(centers[k], center)) + i.shape.reach);
    return { center, radius: Math.max(0.1 * this.radius, ...reach) };
  }

  /** Contact forces and impulses at time t as arrows: a shaft and a head each. */
  arrows(t, theme) {
    const [k] = this.locate(t), found = [];
    for (let c = 0; this.force && c < this.contacts; c++) {
      const row = this.between(this.force, 6 * this.contacts, 6 * c, 6, [k, 0]);
      found.push(...this.arrow(row.slice(0, 3), row.slice(3), this.metresPerNewton, theme.force, 1));
    }
    for (let i = this.firstImpulse(t - this.slowness); this.impulse && 7 * i < this.impulse.length; i++) {
      const row = this.impulse.subarray(7 * i, 7 * i + 7);
      if (row[0] > t + 1e-6) break;
      found.push(...this.arrow([...row.slice(1, 4)], [...row.slice(4)], this.metresPerImpulse, theme.impulse, 1.6));
    }
    return found;
  }

  /** The first impact at or after time t. */
  firstImpulse(t) {
    let low = 0, high = this.impulse ? this.impulse.length / 7 : 0;
    while (low < high) {
      const middle = (low + high) >> 1;
      if (this.impulse[7 * middle] < t) low = middle + 1;
      else high = middle;
    }
    return low;
  }

  arrow(point, vector, scale, color, thick) {
    const size = norm(vector), r = thick * this.thickness, length = Math.min(size * scale, this.longestArrow ?? this.radius);
    if (length < 2 * r) return [];
    const axis = times(vector, 1 / size);
    const head = Math.min(HEAD * r, 0.6 * length), neck = length - head;
    const at = (s) => add(point, times(axis, s));
    return [
      { shape: SHAFT, color, model: along(at(neck / 2), axis, r, neck) },
      { shape: TIP, color, model: along(at(neck), axis, 0.42 * head, head) },
    ];
  }

  /** How much slower the player goes at time t: near an impact up to twelve times. */
  pace(t) {
    let low = 0, high = this.slow.length;
    while (low < high) {
      const middle = (low + high) >> 1;
      if (this.slow[middle] < t) low = middle + 1;
      else high = middle;
    }
    const near = Math.min(...[this.slow[low - 1], this.slow[low]].map((s) => Math.abs((s ?? Infinity) - t)));
    return clamp(near / this.slowness, 1 / 12, 1);
  }
}
