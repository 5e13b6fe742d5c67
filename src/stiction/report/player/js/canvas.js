// Drawing without a graphics card: flat triangles sorted from far to near on a 2D canvas.

const css = (rgb, a = 1) => `rgba(${rgb.map((c) => Math.round(255 * clamp(c, 0, 1)))},${a})`;

class CanvasRenderer {
  constructor() {
    this.detail = 8;
    this.meshes = new Map();
  }

  mesh(shape) {
    const key = shape.kind + shape.size;
    if (!this.meshes.has(key)) {
      const { positions: p, indices } = meshOf(shape, this.detail), vertices = [];
      for (let i = 0; i < p.length; i += 3) vertices.push(p.slice(i, i + 3));
      this.meshes.set(key, { vertices, indices });
    }
    return this.meshes.get(key);
  }

  /** The triangles of an item in the world, with their unit normals. */
  *triangles({ shape, model }) {
    const { vertices, indices } = this.mesh(shape), world = vertices.map((v) => moved(model, v));
    for (let i = 0; i < indices.length; i += 3) {
      const [a, b, c] = [0, 1, 2].map((k) => world[indices[i + k]]);
      const n = cross(sub(b, a), sub(c, a)), area = norm(n);
      if (area > 0) yield { corners: [a, b, c], normal: times(n, 1 / area) };
    }
  }

  draw(context, scene, t, camera, theme, show) {
    const { width, height } = context.canvas;
    const { planes, solids } = scene.items(t, theme.ground), eye = camera.eye();
    const view = camera.matrix(width / height);
    const project = (p) => {
      const w = view[3] * p[0] + view[7] * p[1] + view[11] * p[2] + view[15];
      const q = moved(view, p);
      return w > 1e-6 && [(0.5 + (0.5 * q[0]) / w) * width, (0.5 - (0.5 * q[1]) / w) * height, w];
    };
    const polyline = (points, close) => {
      points.forEach(([x, y], i) => (i ? context.lineTo(x, y) : context.moveTo(x, y)));
      if (close) context.closePath();
    };
    context.clearRect(0, 0, width, height);
    context.lineJoin = "round";
    for (const plane of planes) this.drawPlane(context, plane, scene, camera, theme, project, polyline);
    for (const plane of planes.slice(0, 1)) this.drawShadow(context, plane, solids, project, polyline);

    const items = show.forces ? [...solids, ...scene.arrows(t, theme)] : solids, faces = [];
    for (const item of items)
      for (const { corners, normal } of this.triangles(item)) {
        if (dot(normal, sub(eye, corners[0])) < 0) continue;
        const seen = corners.map(project);
        if (!seen.every(Boolean)) continue;
        const light = 0.55 + 0.15 * normal[2] + 0.4 * Math.max(0, dot(normal, SUN));
        const paint = css(item.color.slice(0, 3).map((c) => c * light), item.color[3]);
        faces.push({ seen, paint, depth: seen[0][2] + seen[1][2] + seen[2][2] });
      }
    faces.sort((a, b) => b.depth - a.depth);
    for (const { seen, paint } of faces) {
      context.beginPath();
      polyline(seen, true);
      context.fillStyle = context.strokeStyle = paint;
      context.lineWidth = 1; // closes the hairlines between neighbours
      context.fill();
      context.stroke();
    }
    if (show.trails) for (const trail of scene.trails) {
      const past = trail.points.filter((_, k) => scene.time[k] <= t).map(project).filter(Boolean);
      context.beginPath();
      polyline(past, false);
      context.strokeStyle = css(trail.color.slice(0, 3), 0.6);
      context.lineWidth = 2;
      context.stroke();
    }
  }

  /** A plane's grid lines near what the camera looks at. */
  drawPlane(context, { shape, model }, scene, camera, theme, project, polyline) {
    const origin = model.slice(12, 15), [x, y] = [model.slice(0, 3), model.slice(4, 7)];
    const from = sub(camera.target, origin), reach = 3 * camera.span, step = scene.grid;
    const range = (k, axis) => {
      const c = dot(from, axis), h = shape.size[k];
      return [Math.max(-h, c - reach), Math.min(h, c + reach)];
    };
    const [u, v] = [range(0, x), range(1, y)];
    const at = (a, b) => project(add(origin, add(times(x, a), times(y, b))));
    context.beginPath();
    for (const [across, run, flip] of [[u, v, false], [v, u, true]])
      for (let k = Math.ceil(across[0] / step); k * step <= across[1]; k++) {
        const ends = run.map((r) => (flip ? at(r, k * step) : at(k * step, r)));
        if (ends.every(Boolean)) polyline(ends, false);
      }
    context.strokeStyle = css(theme.line.slice(0, 3), 0.5 * theme.line[3]);
    context.lineWidth = 1;
    context.stroke();
  }

  /** The shadow on one plane: every lit triangle thrown along the light, filled as one area. */
  drawShadow(context, { model }, solids, project, polyline) {
    const origin = model.slice(12, 15), n = unit(turned(model, [0, 0, 1])), slope = dot(n, SUN);
    context.beginPath();
    for (const item of solids)
      for (const { corners, normal } of this.triangles(item)) {
        if (dot(normal, SUN) < 0) continue;
        const thrown = corners.map((p) => {
          const gap = dot(sub(p, origin), n);
          return project(sub(p, times(SUN, Math.max(0, gap) / slope)));
        });
        if (thrown.every(Boolean)) polyline(thrown, true);
      }
    context.fillStyle = "rgba(0,0,0,0.16)";
    context.fill("nonzero");
  }
}
