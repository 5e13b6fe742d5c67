// Drawing with the graphics card: one WebGL 2 context serves every player on the page
// (browsers allow only a few), and each player copies its picture from it.

class WebGlRenderer {
  /** Null where the browser has no WebGL 2. */
  static create() {
    const canvas = document.createElement("canvas");
    const gl = canvas.getContext("webgl2", { antialias: true, premultipliedAlpha: true });
    return gl && new WebGlRenderer(canvas, gl);
  }

  constructor(canvas, gl) {
    Object.assign(this, { canvas, gl, meshes: new Map(), trails: new WeakMap() });
    this.solid = this.program(VERTEX, FRAGMENT);
    this.depth = this.program(VERTEX, NOTHING);
    this.ribbon = this.program(TRAIL_VERTEX, TRAIL_FRAGMENT);
    this.instances = gl.createBuffer(); // for each item of a draw: its colour, and where it is
    this.makeShadowMap();
    gl.enable(gl.DEPTH_TEST);
    gl.enable(gl.BLEND);
    gl.blendFunc(gl.ONE, gl.ONE_MINUS_SRC_ALPHA);
  }

  program(vertex, fragment) {
    const { gl } = this, program = gl.createProgram();
    [[gl.VERTEX_SHADER, vertex], [gl.FRAGMENT_SHADER, fragment]].forEach(([kind, source]) => {
      const shader = gl.createShader(kind);
      gl.shaderSource(shader, source);
      gl.compileShader(shader);
      gl.attachShader(program, shader);
    });
    gl.linkProgram(program);
    if (!gl.getProgramParameter(program, gl.LINK_STATUS))
      throw new Error(gl.getProgramInfoLog(program));
    const uniforms = {}, count = gl.getProgramParameter(program, gl.ACTIVE_UNIFORMS);
    for (let i = 0; i < count; i++) {
      const { name, type } = gl.getActiveUniform(program, i);
      const at = gl.getUniformLocation(program, name);
      uniforms[name] = {
        [gl.FLOAT_MAT4]: (v) => gl.uniformMatrix4fv(at, false, v),
        [gl.FLOAT_VEC4]: (v) => gl.uniform4fv(at, v),
        [gl.FLOAT_VEC3]: (v) => gl.uniform3fv(at, v),
        [gl.FLOAT_VEC2]: (v) => gl.uniform2fv(at, v),
        [gl.FLOAT]: (v) => gl.uniform1f(at, v),
        [gl.SAMPLER_2D_SHADOW]: (v) => gl.uniform1i(at, v),
      }[type];
    }
    return { program, uniforms };
  }

  use({ program, uniforms }, values) {
    this.gl.useProgram(program);
    for (const name in values) uniforms[name]?.(values[name]);
    return uniforms;
  }

  makeShadowMap() {
    const { gl } = this;
    gl.bindTexture(gl.TEXTURE_2D, gl.createTexture());
    gl.texStorage2D(gl.TEXTURE_2D, 1, gl.DEPTH_COMPONENT24, SHADOW_SIZE, SHADOW_SIZE);
    gl.texParameteri(gl.TEXTURE_2D, gl.TEXTURE_COMPARE_MODE, gl.COMPARE_REF_TO_TEXTURE);
    gl.texParameteri(gl.TEXTURE_2D, gl.TEXTURE_MIN_FILTER, gl.LINEAR);
    gl.texParameteri(gl.TEXTURE_2D, gl.TEXTURE_MAG_FILTER, gl.LINEAR);
    gl.texParameteri(gl.TEXTURE_2D, gl.TEXTURE_WRAP_S, gl.CLAMP_TO_EDGE);
    gl.texParameteri(gl.TEXTURE_2D, gl.TEXTURE_WRAP_T, gl.CLAMP_TO_EDGE);
    const texture = gl.getParameter(gl.TEXTURE_BINDING_2D);
    this.shadow = gl.createFramebuffer();
    gl.bindFramebuffer(gl.FRAMEBUFFER, this.shadow);
    gl.framebufferTexture2D(gl.FRAMEBUFFER, gl.DEPTH_ATTACHMENT, gl.TEXTURE_2D, texture, 0);
  }

  /** Numbers in a new buffer as attribute `at`, `step` 1 where they belong to an instance. */
  attribute(at, numbers, width, stride = 0, offset = 0, step = 0) {
    const { gl } = this;
    if (numbers) {
      gl.bindBuffer(gl.ARRAY_BUFFER, gl.createBuffer());
      gl.bufferData(gl.ARRAY_BUFFER, new Float32Array(numbers), gl.STATIC_DRAW);
    }
    gl.enableVertexAttribArray(at);
    gl.vertexAttribPointer(at, width, gl.FLOAT, false, stride, offset);
    gl.vertexAttribDivisor(at, step);
  }

  mesh(shape) {
    const key = [shape.kind, shape.size, this.detail].join();
    if (!this.meshes.has(key)) {
      const { gl } = this, { positions, normals, indices } = meshOf(shape, this.detail);
      const vertices = gl.createVertexArray();
      gl.bindVertexArray(vertices);
      this.attribute(0, positions, 3);
      this.attribute(1, normals, 3);
      gl.bindBuffer(gl.ARRAY_BUFFER, this.instances);
      for (let k = 0; k < 5; k++) this.attribute(2 + k, null, 4, 80, 16 * k, 1);
      gl.bindBuffer(gl.ELEMENT_ARRAY_BUFFER, gl.createBuffer());
      gl.bufferData(gl.ELEMENT_ARRAY_BUFFER, new Uint16Array(indices), gl.STATIC_DRAW);
      this.meshes.set(key, { vertices, count: indices.length });
    }
    return this.meshes.get(key);
  }

  /** Draw items in their order, neighbours with the same mesh in one call. */
  drawItems(items) {
    const { gl } = this;
    for (let first = 0, next; first < items.length; first = next) {
      const mesh = this.mesh(items[first].shape), numbers = [];
      for (next = first; next < items.length && this.mesh(items[next].shape) === mesh; next++)
        numbers.push(...items[next].color, ...items[next].model);
      gl.bindBuffer(gl.ARRAY_BUFFER, this.instances);
      gl.bufferData(gl.ARRAY_BUFFER, new Float32Array(numbers), gl.STREAM_DRAW);
      gl.bindVertexArray(mesh.vertices);
      gl.drawElementsInstanced(gl.TRIANGLES, mesh.count, gl.UNSIGNED_SHORT, 0, next - first);
    }
  }

  /** The same items, those with the same mesh beside each other. */
  byMesh(items) {
    const groups = new Map();
    for (const item of items) {
      const mesh = this.mesh(item.shape);
      groups.has(mesh) ? groups.get(mesh).push(item) : groups.set(mesh, [item]);
    }
    return [...groups.values()].flat();
  }

  drawTrails(scene, values) {
    const { gl } = this, uniforms = this.use(this.ribbon, values);
    gl.depthMask(false);
    for (const trail of scene.trails) {
      if (!this.trails.has(trail)) {
        const vertices = gl.createVertexArray();
        gl.bindVertexArray(vertices);
        const points = trail.points.map((p, k) => [...p, scene.time[k]]);
        const padded = [points[0], ...points, points[points.length - 1]].flat();
        // The same numbers four times, each time one point on.
        for (let at = 0; at < 4; at++) this.attribute(at, at ? null : padded, 4, 16, 16 * at, 1);
        this.trails.set(trail, vertices);
      }
      gl.bindVertexArray(this.trails.get(trail));
      uniforms.color(trail.color);
      gl.drawArraysInstanced(gl.TRIANGLE_STRIP, 0, 4, Math.max(0, trail.points.length - 1));
    }
    gl.depthMask(true);
  }

  /** Draw the scene at time t, then copy the picture to a 2D context. */
  draw(context, scene, t, camera, theme, show) {
    const { gl, canvas } = this, { width, height } = context.canvas;
    this.detail = scene.detail;
    // Grown to the largest player and never shrunk: resizing costs more than drawing.
    if (canvas.width < width) canvas.width = width;
    if (canvas.height < height) canvas.height = height;
    const { planes, solids } = scene.items(t, theme.ground), eye = camera.eye();
    const at = (i) => i.model.slice(12, 15), distance = (i) => norm(sub(at(i), eye));
    const above = (i) => dot(turned(i.model, [0, 0, 1]), sub(eye, at(i))) > 0;
    const opaque = this.byMesh(solids.filter((i) => i.color[3] >= 1));
    const glass = solids.filter((i) => i.color[3] < 1).sort((a, b) => distance(b) - distance(a));

    // The light's own view, around what moves (far walls would make the shadows coarse).
    const movers = solids.filter((i) => i.shape.body >= 0);
    const { center, radius } = scene.bounds(movers.length ? movers : solids);
    const light = product(orthographic(radius), lookAt(add(center, times(SUN, radius)), center, [0, 0, 1]));
    gl.bindFramebuffer(gl.FRAMEBUFFER, this.shadow);
    gl.viewport(0, 0, SHADOW_SIZE, SHADOW_SIZE);
    gl.clear(gl.DEPTH_BUFFER_BIT);
    this.use(this.depth, { camera: light });
    this.drawItems([...opaque, ...glass]);

    gl.bindFramebuffer(gl.FRAMEBUFFER, null);
    gl.viewport(0, 0, width, height);
    gl.clearColor(0, 0, 0, 0);
    gl.clear(gl.COLOR_BUFFER_BIT | gl.DEPTH_BUFFER_BIT);
    const view = camera.matrix(width / height);
    const uniforms = this.use(this.solid, {
      camera: view, light, eye, sun: SUN, sky: theme.sky, bounce: theme.bounce, shadowMap: 0,
      focus: camera.target, fade: 3.5 * camera.span, step_: scene.grid, line: theme.line,
      texel: radius / SHADOW_SIZE, plane: 1, symbol: 0,
    });
    this.drawItems(planes.filter(above));
    uniforms.plane(0);
    this.drawItems(opaque);
    this.drawItems(glass);
    uniforms.plane(1); // planes seen from below hide nothing
    this.drawItems(planes.filter((i) => !above(i)));
    uniforms.plane(0);
    if (show.trails) this.drawTrails(scene, {
      camera: view, screen: [width, height], width: height / 200, now: t, memory: 0.12 * scene.duration });
    if (show.forces) { // whole where in sight, faint where a body hides them
      const arrows = this.byMesh(scene.arrows(t, theme));
      this.use(this.solid, { symbol: 1 });
      gl.enable(gl.CULL_FACE); // they are closed: half their triangles are behind
      this.drawItems(arrows);
      gl.disable(gl.DEPTH_TEST);
      this.drawItems(arrows.map((a) => ({ ...a, color: [...a.color.slice(0, 3), 0.35] })));
      gl.enable(gl.DEPTH_TEST);
      gl.disable(gl.CULL_FACE);
    }
    context.clearRect(0, 0, width, height);
    context.drawImage(canvas, 0, canvas.height - height, width, height, 0, 0, width, height);
  }
}
