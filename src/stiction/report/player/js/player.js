// The player: a picture, a time line and controls, built inside a <figure> that holds the data.

const SPEEDS = [0.1, 0.25, 0.5, 1, 2, 4];
const SHARPEST = 2; // device pixels a CSS pixel, at most

const THEMES = {
  light: {
    ground: [0.925, 0.935, 0.95, 1], line: [0.55, 0.6, 0.68, 0.5], force: [0.85, 0.25, 0.1, 1], impulse: [0.55, 0.1, 0.6, 1],
    sky: [1.0, 1.02, 1.06], bounce: [0.62, 0.6, 0.58],
  },
  dark: {
    ground: [0.13, 0.15, 0.18, 1], line: [0.45, 0.52, 0.62, 0.5], force: [1.0, 0.5, 0.2, 1], impulse: [0.9, 0.5, 1.0, 1],
    sky: [0.8, 0.86, 0.98], bounce: [0.26, 0.26, 0.3],
  },
};
const ICONS = { play: "M8 5v14l11-7z", pause: "M7 5h4v14H7zM13 5h4v14h-4z" };
const MARKS = 1500; // on the time line at most: more cannot be told apart

const MARKUP = `
<div class="sp-stage"><canvas></canvas><span class="sp-scale"></span></div>
<div class="sp-bar">
  <button class="sp-play" aria-label="Play or pause"><svg viewBox="0 0 24 24"><path/></svg></button>
  <button class="sp-back" aria-label="Event before" title="event before (Shift ←)"><svg viewBox="0 0 24 24"><path d="M6 5h2v14H6zM20 5v14L9 12z"/></svg></button>
  <button class="sp-on" aria-label="Next event" title="next event (Shift →)"><svg viewBox="0 0 24 24"><path d="M16 5h2v14h-2zM4 5v14l11-7z"/></svg></button>
  <div class="sp-track" role="slider" aria-label="Time" aria-valuemin="0"><div class="sp-done"></div></div>
  <output class="sp-time"></output><select class="sp-speed" aria-label="Speed"></select>
</div>
<div class="sp-more"><div class="sp-legend"></div><div class="sp-buttons"></div></div>
<div class="sp-tip" hidden></div>`;

let shared = null;
/** One renderer for all players: with the graphics card if that works, without it otherwise. */
function renderer() {
  if (shared) return shared;
  try {
    shared = WebGlRenderer.create();
    shared?.canvas.addEventListener("webglcontextlost", () => (shared = null)); // made anew
  } catch (error) {
    console.warn("drawing without WebGL:", error);
  }
  return (shared ??= new CanvasRenderer());
}

class Player {
  constructor(figure) {
    this.figure = figure;
    this.scene = new Scene(JSON.parse(figure.querySelector("script").textContent));
    figure.insertAdjacentHTML("afterbegin", MARKUP);
    figure.tabIndex = 0;
    for (const name of ["stage", "scale", "play", "back", "on", "track", "done", "time", "speed", "legend", "buttons", "tip"])
      this[name] = figure.querySelector(`.sp-${name}`);
    this.canvas = figure.querySelector("canvas");
    this.context = this.canvas.getContext("2d");
    this.t = this.scene.start;
    this.playing = false;
    this.show = { loop: false, trails: true, forces: true, "slow impacts": true, "after rest": !clock.folded };
    this.follow = (t, folded) => {
      this.show["after rest"] = !folded;
      this.playing = false;
      this.seek(t - this.scene.origin, true);
    };
    this.leads = Number.isNaN(clock.t); // who moves the clock: the player that was used last
    clock.followers.add(this.follow);
    this.resize();
    this.camera = new Camera(this.scene, this.aspect);
    this.addControls();
    this.addEvents();
    this.addTimeLine();
    handleGestures(this.canvas, this.camera, () => this.refresh(), () => this.toggle());
    this.scheme = matchMedia("(prefers-color-scheme: dark)");
    this.scheme.addEventListener("change", () => this.refresh());
    // Painted at once when the size changes: no blank picture in between.
    new ResizeObserver(() => this.resize() && this.paint()).observe(this.stage);
    this.refresh();
  }

  /** The last time that is shown: of all, or short after everything came to rest. */
  get end() {
    const { fold, duration } = this.scene;
    return fold == null || this.show["after rest"] ? duration : fold;
  }

  get aspect() {
    return this.canvas.width / this.canvas.height;
  }

  /** As many pixels as the screen has there; says whether that has changed. */
  resize() {
    const { canvas, stage } = this, sharp = Math.min(SHARPEST, devicePixelRatio || 1);
    const [width, height] = [stage.clientWidth, stage.clientHeight].map((x) => Math.max(1, Math.round(x * sharp)));
    if (canvas.width === width && canvas.height === height) return false;
    Object.assign(canvas, { width, height });
    return true;
  }

  addControls() {
    const { scene, figure, speed, show, camera } = this;
    for (const s of SPEEDS) speed.add(new Option(`${s}×`, s, false, s === scene.speed));
    this.scale.textContent = scene.scaleText;
    this.play.onclick = () => this.toggle();
    this.back.onclick = () => this.jump(-1);
    this.on.onclick = () => this.jump(1);
    if (!scene.events.length) this.back.hidden = this.on.hidden = true;
    this.canvas.addEventListener("dblclick", () => this.home());
    figure.addEventListener("keydown", (e) => this.key(e));
    const button = (name, act) => {
      const made = Object.assign(document.createElement("button"), { textContent: name, onclick: act });
      this.buttons.append(made);
      return made;
    };
    const toggle = (name, state, after) => {
      const made = button(name, () => {
        state[name] = !state[name];
        made.setAttribute("aria-pressed", state[name]);
        after?.();
        this.refresh();
      });
      made.setAttribute("aria-pressed", state[name]);
    };
    toggle("loop", show);
    if (scene.slow.length) toggle("slow impacts", show);
    if (scene.fold != null) toggle("after rest", show, () => (this.placeMarks(), clock.fold(!show["after rest"], this.follow)));
    if (scene.trails.length) toggle("trails", show);
    if (scene.force || scene.impulse) toggle("forces", show);
    toggle("follow", camera, () => this.home());
    button("reset view", () => this.home());
    if (figure.requestFullscreen) button("full screen", () => document.fullscreenElement ? document.exitFullscreen() : figure.requestFullscreen());
  }

  /** Marks on the time line, one colour a kind, with a legend. */
  addEvents() {
    const counts = new Map();
    const dot = (color) => Object.assign(document.createElement("i"), { style: `background:${color}` });
    for (const { kind, color } of this.scene.events) counts.set(kind, { color, count: 1 + (counts.get(kind)?.count ?? 0) });
    this.placeMarks = () => {
      this.track.querySelectorAll("i").forEach((mark) => mark.remove());
      const seen = new Set();
      for (const { time, kind, color } of this.scene.events) {
        const place = Math.round((MARKS * time) / (this.end || 1));
        if (place > MARKS || seen.has(place + kind)) continue;
        seen.add(place + kind);
        const mark = dot(color);
        mark.style.left = `${(100 * place) / MARKS}%`;
        this.track.append(mark);
      }
    };
    this.placeMarks();
    for (const [kind, { color, count }] of counts) {
      const entry = document.createElement("span");
      entry.append(dot(color), `${kind} ${count}`);
      this.legend.append(entry);
    }
  }

  addTimeLine() {
    const { track, scene, tip, figure } = this;
    const pointed = (e) => {
      const { left, width } = track.getBoundingClientRect();
      return { t: clamp((e.clientX - left) / width, 0, 1) * this.end, pixel: this.end / width };
    };
    track.addEventListener("pointerdown", (e) => {
      track.setPointerCapture(e.pointerId);
      this.playing = false;
      this.seek(pointed(e).t);
    });
    track.addEventListener("pointermove", (e) => {
      const { t, pixel } = pointed(e), home = figure.getBoundingClientRect();
      if (e.buttons) this.seek(t);
      const near = scene.events.filter((v) => Math.abs(v.time - t) < 5 * pixel).slice(0, 8);
      tip.hidden = !near.length;
      tip.textContent = near.map((v) => `${v.time.toFixed(4)} s  ${v.kind}${v.text && ": " + v.text}`).join("\n");
      tip.style.left = `${clamp(e.clientX - home.left, 90, home.width - 90)}px`;
      tip.style.bottom = `${home.bottom - track.getBoundingClientRect().top + 4}px`;
    });
    track.addEventListener("pointerleave", () => (tip.hidden = true));
  }

  home() {
    this.camera.home(this.aspect, this.t);
    this.refresh();
  }

  seek(t, follows = false) {
    this.leads = !follows;
    this.t = clamp(t, 0, this.scene.duration);
    this.refresh();
  }

  toggle() {
    this.playing = !this.playing;
    this.leads = true;
    if (this.playing && this.t >= this.end) this.t = 0;
    this.last = undefined;
    this.refresh();
  }

  /** To the next event, or to the one before. */
  jump(way) {
    const { events } = this.scene, at = this.t;
    const found = way > 0 ? events.find((v) => v.time > at + 1e-6) : events.findLast((v) => v.time < at - 1e-6);
    this.playing = false;
    this.seek(found?.time ?? at);
  }

  /** Space plays, arrows step and change the speed, with Shift they go from event to event. */
  key(e) {
    if (e.target === this.speed || (e.key === " " && e.target !== this.figure)) return;
    const { time } = this.scene, [frame, beyond] = this.scene.locate(this.t);
    const step = (to) => ((this.playing = false), this.seek(to ?? this.t));
    const faster = (by) => (this.speed.selectedIndex = clamp(this.speed.selectedIndex + by, 0, SPEEDS.length - 1));
    const acts = {
      " ": () => this.toggle(),
      ArrowRight: () => (e.shiftKey ? this.jump(1) : step(time[frame + 1])),
      ArrowLeft: () => (e.shiftKey ? this.jump(-1) : step(time[frame - !beyond])),
      ArrowUp: () => faster(1),
      ArrowDown: () => faster(-1),
      Home: () => step(0),
      End: () => step(this.end),
      r: () => this.home(),
    };
    if (!acts[e.key] || e.ctrlKey || e.metaKey || e.altKey) return;
    e.preventDefault();
    acts[e.key]();
  }

  /** Ask for a new picture; many requests before the next one make one picture. */
  refresh() {
    this.request ??= requestAnimationFrame((now) => {
      this.request = undefined;
      this.advance(now / 1000);
      this.paint();
      if (this.playing) this.refresh();
    });
  }

  advance(now) {
    if (!this.playing) return;
    const pace = this.show["slow impacts"] ? this.scene.pace(this.t) : 1;
    this.t += Math.min(0.1, now - (this.last ?? now)) * Number(this.speed.value) * pace;
    this.last = now;
    if (this.t < this.end) return;
    this.playing = this.show.loop;
    this.t = this.playing ? 0 : this.end;
  }

  paint() {
    const { scene, camera, canvas, t } = this;
    const theme = THEMES[this.scheme.matches ? "dark" : "light"], digits = this.end < 2 ? 3 : 2;
    if (this.leads && clock.t !== t + scene.origin) clock.set(t + scene.origin, this.follow);
    camera.look(t);
    renderer().draw(this.context, scene, t, camera, theme, this.show);
    this.done.style.width = `${Math.min(100, (100 * t) / (this.end || 1))}%`;
    this.time.textContent = `${t.toFixed(digits)} / ${this.end.toFixed(digits)} s`;
    this.track.setAttribute("aria-valuemax", this.end);
    this.track.setAttribute("aria-valuenow", t.toFixed(3));
    this.play.querySelector("path").setAttribute("d", this.playing ? ICONS.pause : ICONS.play);
  }
}

const players = [];
window.stictionPlayer = { players, mount: (figure) => players.push(new Player(figure)) };
