// Charts by uPlot: one instance a panel, all that share an axis zoom and point together.

const floats = (text) => new Float32Array(Uint8Array.from(atob(text), (c) => c.charCodeAt(0)).buffer);
const numbers = (text) => Array.from(floats(text), (x) => (Number.isNaN(x) ? null : x));
const dark = matchMedia("(prefers-color-scheme: dark)");
const PALETTES = {
  false: ["#0072b2", "#d55e00", "#009e73", "#cc79a7", "#e69f00", "#56b4e9", "#000000", "#b9a900"],
  true: ["#5fb0ea", "#ff8f52", "#3ccf9f", "#e89fc8", "#f2bd52", "#9bd6fa", "#e6ebf2", "#f3e96b"],
};
const EXTRA = { "-1": ["#333333", "#e6ebf2"], "-2": ["#d0d5db", "#4a5461"] }; // ink, soft
const hue = (n) => EXTRA[n]?.[+dark.matches] ?? PALETTES[dark.matches][n % 8];
const css = (u, name) => getComputedStyle(u.root).getPropertyValue(name);
const HEIGHT = 150; // px of a panel of height 1
const AXIS = 52; // px for the numbers of the vertical axis
const LETTER = 6; // px of one in the names of rows
const READ = 150; // ms between two numbers in a legend
const DASHES = { dashed: [6, 4], dotted: [2, 3] };
const short = (x) => (x == null ? "" : Math.abs(x) < 1e-12 ? "0" : Number(x.toPrecision(5)).toString());

let zooming = false;
/** All charts over a like axis show the same part of it. */
function zoom(label, min, max) {
  if (zooming) return;
  zooming = true;
  for (const u of all) if (u.label === label) u.setScale("x", { min, max });
  zooming = false;
}
const all = new Set();
const extents = new Map(); // of charts over a like axis, together: label -> [first, last, last if folded]
const whole = (label) => {
  const [first, last, folded] = extents.get(label);
  return [first, clock.folded ? folded : last];
};
function widen({ label, until }, x) {
  const [a, b, c] = extents.get(label) ?? [Infinity, -Infinity, -Infinity], last = x[x.length - 1];
  extents.set(label, [Math.min(a, x[0]), Math.max(b, last), Math.max(c, until ?? last)]);
}

function axes(panel, last, label) {
  const look = { stroke: (u) => css(u, "--soft"), grid: { stroke: (u) => css(u, "--grid"), width: 1 }, ticks: { show: false } };
  const font = "11px system-ui, sans-serif";
  const y = { ...look, size: AXIS, font, label: panel.label, labelSize: 16, labelFont: font, values: (u, v) => v.map(short) };
  if (panel.values) look.grid = y.grid = { show: false };
  const longest = Math.max(0, ...(panel.rows ?? []).map(([name]) => name.length));
  const size = Math.max(AXIS + 16, Math.min(12 + LETTER * longest, innerWidth / 3, 170)), room = Math.floor((size - 12) / LETTER);
  if (panel.rows) Object.assign(y, {
    label: undefined, splits: () => panel.rows.map((_, i) => panel.rows.length - i - 0.5),
    values: () => panel.rows.map(([name]) => (name.length > room ? name.slice(0, room - 1) + "…" : name)), filter: undefined, size, grid: { show: false },
  });
  return [{ ...look, font, size: last ? 24 : 8, label: last ? label : undefined, labelFont: font, labelSize: 14, labelGap: -2, values: (u, v) => (last ? v.map(short) : v.map(() => "")) }, y];
}

/** The data of a panel, as uPlot takes it; of a stack the sums, with the parts kept aside. */
function table(panel, x) {
  if (panel.rows || panel.values) return { data: [[x[0], x[x.length - 1]], [null, null]] };
  const ys = panel.lines.map((line) => numbers(line.y));
  if (panel.stacked) {
    const sums = [];
    ys.forEach((y, i) => sums.push(y.map((v, k) => v + (i ? sums[i - 1][k] : 0))));
    return { data: [x, ...sums], parts: ys };
  }
  const own = panel.lines.some((line) => line.x);
  if (!own) return { data: [x, ...ys] };
  return { data: uPlot.join(panel.lines.map((line, i) => [line.x ? numbers(line.x) : x, ys[i]])) };
}

/** The value of a line that has none just here, being sampled elsewhere: its last one before. */
const latest = (ys, k) => ys[ys.findLastIndex((y, i) => i <= k && y !== undefined)];

function series(line, i, panel, parts) {
  const made = {
    label: line.name, width: 1.5, stroke: () => hue(line.color), dash: DASHES[line.style], points: { show: false },
    value: (u, v, s, k) => (k == null ? "" : short(parts ? parts[i][k] : v === undefined ? latest(u.data[s], k) : v) || "–"),
  };
  if (line.style === "dots") Object.assign(made, { paths: () => null, points: { show: true, size: 4, fill: () => hue(line.color), width: 0 } });
  if (line.style === "steps") Object.assign(made, { paths: uPlot.paths.stepped({ align: 1 }), fill: () => hue(line.color) + "44" });
  if (panel.stacked && i === 0) made.fill = () => hue(line.color) + "88";
  return made;
}

/** What lies beneath the lines: shaded spans, marks, levels, rows. */
function backdrop(u, panel) {
  const { ctx, bbox } = u, { left, top, width, height } = bbox;
  const X = (x) => u.valToPos(x, "x", true), Y = (y) => u.valToPos(y, "y", true);
  ctx.save();
  ctx.beginPath();
  ctx.rect(left, top, width, height);
  ctx.clip();
  ctx.fillStyle = css(u, "--shade");
  for (const [a, b] of panel.spans ?? []) ctx.fillRect(X(a), top, X(b) - X(a), height);
  ctx.strokeStyle = css(u, "--soft");
  ctx.lineWidth = devicePixelRatio;
  const stroke = (dash, points) => (ctx.setLineDash(dash), ctx.beginPath(), ctx.moveTo(...points[0]), ctx.lineTo(...points[1]), ctx.stroke());
  for (const [name, y] of panel.levels ?? []) {
    stroke([6, 4], [[left, Y(y)], [left + width, Y(y)]]);
    ctx.fillStyle = css(u, "--soft");
    ctx.textAlign = "right";
    ctx.font = `${10 * devicePixelRatio}px system-ui, sans-serif`;
    ctx.fillText(name, left + width - 4, Y(y) - 4);
  }
  for (const x of panel.marks ?? []) stroke([2, 3], [[X(x), top], [X(x), top + height]]);
  if (panel.values) drawMap(u, panel, panel.x);
  (panel.rows ?? []).forEach(([, spans], i) => {
    const n = panel.rows.length, y = Y(n - i - 0.12), h = Y(n - i - 0.88) - y;
    for (let k = 0; k < spans.length; k += 3) {
      const state = panel.states.find(([number]) => number === spans[k + 2]);
      ctx.fillStyle = hue(state[2]);
      const a = X(spans[k]), b = X(spans[k + 1]);
      if (b >= left && a <= left + width) ctx.fillRect(a, y, Math.max(b - a, devicePixelRatio), h);
    }
  });
  ctx.restore();
}

function addPanel(figure, panel, chart, x, last) {
  const home = figure.appendChild(document.createElement("div"));
  home.className = "sc-panel";
  if (panel.title) home.append(Object.assign(document.createElement("div"), { className: "sc-title", textContent: panel.title }));
  if (panel.rows) panel.rows = panel.rows.map(([name, spans]) => [name, floats(spans)]);
  if (panel.values) Object.assign(panel, { x, y: numbers(panel.y), values: floats(panel.values) });
  const { data, parts } = table(panel, x), lines = panel.lines ?? [{ name: "", color: -2, style: "line" }];
  const height = HEIGHT * panel.height + (last ? 30 : 0);
  const [min, max] = whole(chart.label), unit = chart.label.match(/\[(.*)\]/)?.[1] ?? "";
  const u = new uPlot({
    width: figure.clientWidth || 300, height: Math.round(height), padding: [6, 10, 0, 0],
    cursor: { sync: { key: chart.label, setSeries: false }, drag: { x: true, y: false, dist: 5 }, points: { size: 5, show: !panel.values }, y: Boolean(panel.values) },
    legend: { show: !panel.rows && !panel.values && lines.some((l) => l.name) && (chart.clock || lines.length > 1), live: true },
    scales: {
      x: { time: false, min, max, auto: false },
      y: panel.rows ? { range: [0, panel.rows.length] } : panel.values ? { range: panel.extents[1] } : panel.range ? { range: panel.range } : panel.stacked ? { range: (u, a, b) => [Math.min(0, a), b * 1.03 || 1] } : {},
    },
    axes: axes(panel, last, chart.label),
    series: [{ label: "", value: (u, v) => (v == null ? "" : `${short(v)} ${unit}`) }, ...lines.map((line, i) => series(line, i, panel, parts))],
    bands: panel.stacked ? lines.slice(1).map((line, i) => ({ series: [i + 2, i + 1], fill: () => hue(line.color) + "88" })) : [],
    hooks: {
      drawClear: [(u) => backdrop(u, panel)],
      setScale: [(u, key) => key === "x" && zoom(chart.label, u.scales.x.min, u.scales.x.max)],
    },
  }, data, home);
  u.label = chart.label;
  all.add(u);
  if (panel.values) {
    const read = mapLegend(home, panel, x, chart.label);
    (u.hooks.setCursor ??= []).push(read);
  }
  if (panel.rows) {
    const legend = Object.assign(document.createElement("div"), { className: "sc-states" });
    const paint = () => (legend.innerHTML = panel.states.map(([, name, color]) => `<span><i style="background:${hue(color)}"></i>${name}</span>`).join(""));
    paint();
    dark.addEventListener("change", paint);
    home.append(legend);
  }
  // A double click shows the whole again, as far as it is not folded.
  u.over.addEventListener("dblclick", (e) => (e.stopImmediatePropagation(), zoom(chart.label, ...whole(chart.label))), true);
  if (chart.clock) addHand(u, Boolean(panel.lines));
  new ResizeObserver(() => figure.clientWidth && figure.clientWidth !== u.width && u.setSize({ width: figure.clientWidth, height: u.height })).observe(figure);
  dark.addEventListener("change", () => u.redraw());
}

/** The clock's hand over a panel, and the values there in its legend; a click sets the clock. */
function addHand(u, legend) {
  const hand = u.over.appendChild(Object.assign(document.createElement("div"), { className: "sc-hand", hidden: true }));
  let folded = clock.folded, told = 0, later;
  // Whoever points at the chart reads it there; numbers that change faster nobody reads.
  const tell = () => {
    later = clearTimeout(later);
    told = performance.now();
    if (!(u.cursor.left >= 0)) u.setLegend({ idx: Number.isNaN(clock.t) ? null : u.valToIdx(clock.t) }, false);
  };
  const move = () => {
    const t = clock.t, { min, max } = u.scales.x;
    hand.hidden = !(t >= min && t <= max);
    if (!hand.hidden) hand.style.transform = `translateX(${u.valToPos(t, "x")}px)`;
    if (legend) later ??= setTimeout(tell, Math.max(0, told + READ - performance.now()));
  };
  if (legend) (u.hooks.setCursor ??= []).push(() => u.cursor.left >= 0 || move());
  clock.followers.add(() => {
    if (folded !== clock.folded) zoom(u.label, ...whole(u.label));
    folded = clock.folded;
    move();
  });
  u.hooks.setScale.push(move);
  (u.hooks.setSize ??= []).push(move);
  let down;
  u.over.addEventListener("pointerdown", (e) => (down = e.clientX));
  u.over.addEventListener("click", (e) => {
    if (Math.abs(e.clientX - down) < 4) clock.set(u.posToVal(e.clientX - u.over.getBoundingClientRect().left, "x"));
  });
  move();
}

/** Rows of a table that carry a time go there when clicked; the last one reached is marked. */
function linkRows(table) {
  const rows = [...table.querySelectorAll("tr[data-t]")], times = rows.map((r) => Number(r.dataset.t));
  rows.forEach((row, i) => {
    row.tabIndex = 0;
    row.onclick = () => clock.set(times[i]);
    row.onkeydown = (e) => e.key === "Enter" && clock.set(times[i]);
  });
  let marked;
  clock.followers.add((t) => {
    const now = rows[times.findLastIndex((x) => x <= t + 1e-6)];
    if (now === marked) return;
    marked?.classList.remove("now");
    (marked = now)?.classList.add("now");
  });
}

window.stictionCharts = {
  link: linkRows,
  mount(figure) {
    const chart = JSON.parse(figure.querySelector("script").textContent), x = numbers(chart.x);
    if (!x.length) return;
    widen(chart, chart.panels[0].extents?.[0] ?? x);
    chart.panels.forEach((panel, i) => addPanel(figure, panel, chart, x, i === chart.panels.length - 1));
    zoom(chart.label, ...whole(chart.label));
  },
};
