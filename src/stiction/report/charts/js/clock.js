// The page's clock: players move it, charts and tables show it, a click anywhere sets it.

window.stictionClock ??= {
  t: NaN,
  folded: true, // whether what follows after rest is hidden
  followers: new Set(), // functions of (t, folded)
  set(t, from) {
    this.t = t;
    for (const f of this.followers) if (f !== from) f(t, this.folded);
  },
  fold(folded, from) {
    this.folded = folded;
    this.set(this.t, from);
  },
};
const clock = window.stictionClock;
