// Maps: cells, or points, coloured by their value; pointing at one reads it.

const VIRIDIS = ["#440154", "#482878", "#3e4989", "#31688e", "#26828e", "#1f9e89", "#35b779", "#6ece58", "#b5de2b", "#fde725"];
const RAMP = VIRIDIS.map((text) => [1, 3, 5].map((i) => parseInt(text.slice(i, i + 2), 16)));
function ramp(share) {
  const at = Math.min(Math.max(share, 0), 1) * (RAMP.length - 1), i = Math.min(Math.floor(at), RAMP.length - 2);
  return `rgb(${RAMP[i].map((a, k) => Math.round(a + (at - i) * (RAMP[i + 1][k] - a)))})`;
}
const colorOf = (panel, value) => {
  if (panel.states.length) return hue(panel.states.find(([number]) => number === value)[2]);
  const [low, high] = panel.span;
  return ramp(high > low ? (value - low) / (high - low) : 0.5);
};
/** Where cells meet: half way to their neighbours, and as far beyond the ends. */
const borders = (x, [first, last]) => [first, ...x.slice(1).map((b, i) => (x[i] + b) / 2), last];

function drawMap(u, panel, x) {
  const { ctx } = u, X = (v) => u.valToPos(v, "x", true), Y = (v) => u.valToPos(v, "y", true);
  const each = (draw) => panel.values.forEach((value, k) => {
    if (Number.isNaN(value)) return;
    ctx.fillStyle = colorOf(panel, value);
    draw(k);
  });
  if (panel.points) {
    const r = devicePixelRatio * Math.min(4, Math.max(1.5, 90 / Math.sqrt(x.length)));
    Object.assign(ctx, { strokeStyle: css(u, "--soft"), lineWidth: 0.5 * devicePixelRatio }); // dark points on dark paper
    ctx.setLineDash([]);
    each((k) => (ctx.beginPath(), ctx.arc(X(x[k]), Y(panel.y[k]), r, 0, 7), ctx.fill(), ctx.stroke()));
    return;
  }
  const n = x.length, left = borders(x, panel.extents[0]).map(X), top = borders(panel.y, panel.extents[1]).map(Y);
  each((k) => {
    const i = k % n, j = Math.floor(k / n), a = Math.floor(Math.min(left[i], left[i + 1])), b = Math.floor(Math.min(top[j], top[j + 1]));
    ctx.fillRect(a, b, Math.ceil(Math.max(left[i], left[i + 1])) - a, Math.ceil(Math.max(top[j], top[j + 1])) - b);
  });
}

/** The cell or point under the cursor: its number, or none. */
function pointed(u, panel, x) {
  const { left, top } = u.cursor;
  if (!(left >= 0 && top >= 0)) return -1;
  const at = [u.posToVal(left, "x"), u.posToVal(top, "y")];
  if (!panel.points) {
    const [i, j] = [x, panel.y].map((side, d) => borders(side, panel.extents[d]).findLastIndex((edge) => edge <= at[d]));
    return i < 0 || j < 0 || i >= x.length || j >= panel.y.length ? -1 : j * x.length + i;
  }
  let best = -1, nearest = 12 ** 2; // px
  x.forEach((v, k) => {
    const d = (u.valToPos(v, "x") - left) ** 2 + (u.valToPos(panel.y[k], "y") - top) ** 2;
    if (d < nearest && !Number.isNaN(panel.values[k])) [best, nearest] = [k, d];
  });
  return best;
}

/** What colours mean, and the value under the cursor. */
function mapLegend(home, panel, x, label) {
  const legend = home.appendChild(Object.assign(document.createElement("div"), { className: "sc-states" }));
  const [low, high] = panel.span;
  const read = Object.assign(document.createElement("span"), { className: "sc-read" });
  const paint = () => {
    legend.replaceChildren();
    if (!panel.states.length) {
      const bar = document.createElement("span");
      bar.innerHTML = `${short(low)} <i class="sc-bar" style="background:linear-gradient(90deg,${VIRIDIS})"></i>${short(high)}&ensp;`;
      bar.append(panel.name);
      legend.append(bar);
    }
    for (const [, name, color] of panel.states) {
      const key = document.createElement("span");
      key.innerHTML = `<i style="background:${hue(color)}"></i>`;
      key.append(name);
      legend.append(key);
    }
    legend.append(read);
  };
  paint();
  dark.addEventListener("change", paint);
  return (u) => {
    const k = pointed(u, panel, x), value = panel.values[k];
    if (k < 0 || Number.isNaN(value)) return (read.textContent = "");
    const [a, b] = panel.points ? [x[k], panel.y[k]] : [x[k % x.length], panel.y[Math.floor(k / x.length)]];
    const told = panel.states.length ? panel.states.find(([number]) => number === value)[1] : short(value);
    read.textContent = `${label} ${short(a)}, ${panel.label} ${short(b)}: ${told}`;
  };
}
