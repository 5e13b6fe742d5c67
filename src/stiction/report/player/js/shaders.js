// What the graphics card runs: light and shadow on solids, the grid on planes, ribbons for trails.

const SHADOW_SIZE = 1024; // pixels a side

const VERTEX = `#version 300 es
uniform mat4 camera;
layout(location = 0) in vec3 position;
layout(location = 1) in vec3 normal;
layout(location = 2) in vec4 tint;
layout(location = 3) in mat4 model;
out vec3 P, N;
out vec2 local;
flat out vec4 color;
void main() {
  color = tint;
  vec4 world = model * vec4(position, 1.0);
  P = world.xyz;
  N = mat3(model) * normal;
  local = position.xy;
  gl_Position = camera * world;
}`;

const NOTHING = `#version 300 es
precision highp float;
void main() {}`;

const FRAGMENT = `#version 300 es
precision highp float;
precision highp sampler2DShadow;
uniform sampler2DShadow shadowMap;
uniform mat4 light;
uniform vec3 eye, sun, sky, bounce, focus;
uniform vec4 line;
uniform float texel, step_, fade, plane, symbol;
in vec3 P, N;
in vec2 local;
flat in vec4 color;
out vec4 pixel;

float sunlight(vec3 n) {
  vec3 c = (light * vec4(P + n * texel * 2.0, 1.0)).xyz * 0.5 + 0.5;
  if (any(lessThan(c.xy, vec2(0.0))) || any(greaterThan(c.xy, vec2(1.0)))) return 1.0;
  float sum = 0.0, depth = min(c.z - 0.002, 0.999);
  for (int i = -2; i <= 2; i++)
    for (int j = -2; j <= 2; j++)
      sum += texture(shadowMap, vec3(c.xy + vec2(i, j) * 1.6 / ${SHADOW_SIZE}.0, depth));
  return sum / 25.0;
}

float grid(vec2 x) { // lines one pixel wide, gone where they would crowd
  vec2 w = fwidth(x), d = abs(fract(x - 0.5) - 0.5) / w;
  vec2 ink = (1.0 - smoothstep(0.0, 1.2, d)) * (1.0 - smoothstep(0.15, 0.5, w));
  return max(ink.x, ink.y);
}

void main() {
  vec3 n = normalize(N), view = normalize(eye - P);
  if (plane > 0.5) {
    float ink = max(0.5 * grid(local / step_), grid(local / (5.0 * step_)));
    vec3 ground = mix(color.rgb, line.rgb, line.a * ink);
    ground *= mix(sky * 0.62, vec3(1.0), sunlight(n));
    float alpha = color.a * (1.0 - smoothstep(0.25, 1.0, length(P - focus) / fade));
    if (dot(n, view) < 0.0) alpha *= 0.35;
    pixel = vec4(ground * alpha, alpha);
    return;
  }
  vec3 albedo = pow(color.rgb, vec3(2.2));
  float lit = symbol > 0.5 ? 1.0 : sunlight(n); // arrows lie in no shadow
  float diffuse = max(0.0, dot(n, sun)) * lit;
  float gloss = pow(max(0.0, dot(n, normalize(sun + view))), 48.0) * 0.22 * lit;
  float rim = pow(1.0 - max(0.0, dot(n, view)), 3.0);
  vec3 ambient = mix(bounce, sky, 0.5 + 0.5 * n.z);
  float fill = 0.22 * max(0.0, dot(n, view)); // a little light from the eye: no side is dull
  vec3 shade = albedo * (0.45 * ambient + fill + 0.75 * diffuse + 0.25 * rim * sky) + gloss;
  pixel = vec4(pow(shade, vec3(1.0 / 2.2)) * color.a, color.a);
}`;

const TRAIL_VERTEX = `#version 300 es
uniform mat4 camera;
uniform vec2 screen;
uniform float now, memory, width;
layout(location = 0) in vec4 before;
layout(location = 1) in vec4 from;
layout(location = 2) in vec4 to;
layout(location = 3) in vec4 after;
out float strength;
vec2 seen(vec4 p) {
  vec4 q = camera * vec4(p.xyz, 1.0);
  return q.xy / q.w * screen;
}
vec2 toward(vec2 a, vec2 b, vec2 otherwise) {
  return length(b - a) > 1e-3 ? normalize(b - a) : otherwise;
}
void main() { // one piece of a ribbon of constant width on the screen, mitred to its neighbours
  bool end = gl_VertexID % 2 == 1;
  vec4 here = end ? to : from;
  vec2 a = seen(from), b = seen(to);
  vec2 piece = toward(a, b, vec2(1.0, 0.0));
  vec2 other = end ? toward(b, seen(after), piece) : toward(seen(before), a, piece);
  vec2 along = length(piece + other) > 0.5 ? normalize(piece + other) : piece;
  vec2 across = vec2(-along.y, along.x) / max(0.5, dot(along, piece));
  gl_Position = camera * vec4(here.xyz, 1.0);
  gl_Position.xy += across * (gl_VertexID < 2 ? width : -width) / screen * gl_Position.w;
  strength = to.w > now ? -1.0 : 0.2 + 0.8 * exp((here.w - now) / memory);
}`;

const TRAIL_FRAGMENT = `#version 300 es
precision highp float;
uniform vec4 color;
in float strength;
out vec4 pixel;
void main() {
  if (strength < 0.0) discard;
  pixel = vec4(color.rgb, 1.0) * strength * color.a;
}`;
