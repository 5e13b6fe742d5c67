// A camera on a sphere around what it looks at, moved by mouse, touch and wheel.

const LENS = Math.tan((Math.PI / 180) * 14); // half the vertical angle of view

class Camera {
  constructor(scene, aspect) {
    this.scene = scene;
    this.follow = scene.follow;
    this.home(aspect, 0);
  }

  /** Back to the view that shows the whole motion. */
  home(aspect, t) {
    const { azimuth, elevation, center, box, followBox } = this.scene;
    this.azimuth = azimuth;
    this.elevation = elevation;
    this.shift = [0, 0, 0];
    this.center = center;
    this.look(t);
    const [wide, high, deep] = this.follow ? followBox : box;
    this.distance = 1.1 * Math.max(wide / aspect, high) / LENS + deep;
  }

  /** Aim at what is to be seen at time t. */
  look(t) {
    this.target = add(this.follow ? this.scene.focus(t) : this.center, this.shift);
  }

  axes() {
    const [a, e] = [this.azimuth, this.elevation];
    const back = [Math.cos(e) * Math.cos(a), Math.cos(e) * Math.sin(a), Math.sin(e)];
    const right = [-Math.sin(a), Math.cos(a), 0];
    return [right, cross(back, right), back];
  }

  eye() {
    return add(this.target, times(this.axes()[2], this.distance));
  }

  /** Half the height of the picture where the camera looks, in metres. */
  get span() {
    return this.distance * LENS;
  }

  matrix(aspect) {
    const near = 0.02 * this.distance, far = 60 * this.distance;
    const view = lookAt(this.eye(), this.target, [0, 0, 1]);
    return product(perspective(LENS, aspect, near, far), view);
  }

  orbit(dx, dy) {
    this.azimuth -= 6 * dx;
    this.elevation = clamp(this.elevation + 6 * dy, -1.2, 1.5);
  }

  pan(dx, dy) {
    const [right, up] = this.axes(), s = 2 * this.span;
    this.shift = add(this.shift, add(times(right, -dx * s), times(up, dy * s)));
  }

  zoom(factor) {
    this.distance = clamp(this.distance * factor, 0.02 * this.scene.radius, 50 * this.scene.radius);
  }
}

/** Drag to turn, drag with another button, Shift or two fingers to move, wheel or pinch to zoom. */
function handleGestures(element, camera, changed, tapped) {
  const down = new Map();
  let travelled = 0;
  const middle = () => {
    const p = [...down.values()], n = p.length;
    return [p.reduce((s, q) => s + q[0], 0) / n, p.reduce((s, q) => s + q[1], 0) / n];
  };
  const spread = () => {
    const [p, q] = [...down.values()];
    return Math.hypot(p[0] - q[0], p[1] - q[1]);
  };
  element.addEventListener("pointerdown", (e) => {
    element.setPointerCapture(e.pointerId);
    down.set(e.pointerId, [e.clientX, e.clientY]);
    travelled = 0;
  });
  element.addEventListener("pointermove", (e) => {
    if (!down.has(e.pointerId)) return;
    const [x0, y0] = middle(), apart = down.size === 2 && spread();
    down.set(e.pointerId, [e.clientX, e.clientY]);
    const [x, y] = middle(), h = element.clientHeight;
    const [dx, dy] = [(x - x0) / h, (y - y0) / h];
    travelled += Math.abs(dx) + Math.abs(dy);
    if (down.size > 1 || e.shiftKey || e.buttons > 1) camera.pan(dx, dy);
    else camera.orbit(dx, dy);
    if (apart) camera.zoom(apart / (spread() || 1));
    changed();
  });
  const up = (e) => {
    if (e.type === "pointerup" && down.size === 1 && e.button === 0 && travelled < 0.01) tapped();
    down.delete(e.pointerId);
  };
  element.addEventListener("pointerup", up);
  element.addEventListener("pointercancel", up);
  element.addEventListener("contextmenu", (e) => e.preventDefault());
  element.addEventListener("wheel", (e) => {
    // A page is scrolled more often than a picture zoomed: the wheel is ours only after a click.
    if (!e.ctrlKey && !element.closest(".stiction-player").matches(":focus-within")) return;
    e.preventDefault();
    camera.zoom(Math.exp(0.0015 * e.deltaY));
    changed();
  }, { passive: false });
}
