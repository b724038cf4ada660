// Mouse, pen and touch on the map: drag to pan or to draw the lasso, wheel or two fingers to zoom,
// click or tap to pick.
const CLICK = { mouse: 4, touch: 10, pen: 6 }; // pixels that a click may move

// actions: {pan(dx, dy), zoom(factor, x, y), hover(x, y, touch), leave(), click(x, y, touch), lassoing(),
// trace(path), enclose(path)}. hover is not called while a button is pressed, during a wheel
// movement, or before the pointer moves again.
export function listen(canvas, actions) {
  const pointers = new Map();
  let path = null;
  let moved = 0;
  let kind = 'mouse';
  let crowded = false; // more than one finger since the first touched
  let pending = 0;
  const at = (e) => {
    const box = canvas.getBoundingClientRect();
    return [e.clientX - box.left, e.clientY - box.top];
  };
  const measure = () => {
    const all = [...pointers.values()];
    const middle = [0, 1].map((d) => all.reduce((sum, p) => sum + p[d], 0) / all.length);
    return { middle, apart: all.length > 1 ? Math.hypot(all[0][0] - all[1][0], all[0][1] - all[1][1]) : 0 };
  };

  canvas.addEventListener('pointerdown', (e) => {
    if (e.pointerType === 'mouse' && e.button !== 0) return;
    try {
      canvas.setPointerCapture(e.pointerId);
    } catch { /* the pointer is already gone */ }
    pointers.set(e.pointerId, at(e));
    kind = e.pointerType in CLICK ? e.pointerType : 'mouse';
    if (pointers.size === 1) {
      moved = 0;
      crowded = false;
      path = actions.lassoing() || e.shiftKey ? [at(e)] : null;
    } else {
      crowded = true;
      path = null;
      actions.trace(null);
    }
    actions.leave();
  });

  canvas.addEventListener('pointermove', (e) => {
    const here = at(e);
    if (!pointers.has(e.pointerId)) {
      if (e.buttons || e.pointerType === 'touch') return;
      cancelAnimationFrame(pending);
      pending = requestAnimationFrame(() => pointers.size || actions.hover(...here, false));
      return;
    }
    const before = measure();
    pointers.set(e.pointerId, here);
    const now = measure();
    const [dx, dy] = [now.middle[0] - before.middle[0], now.middle[1] - before.middle[1]];
    moved += Math.hypot(dx, dy) + Math.abs(now.apart - before.apart);
    if (path) {
      path.push(here);
      actions.trace(path);
    } else if (crowded || moved > CLICK[kind]) {
      actions.pan(dx, dy);
      if (now.apart && before.apart) actions.zoom(now.apart / before.apart, ...now.middle);
    }
  });

  const end = (e) => {
    if (!pointers.has(e.pointerId)) return;
    const here = pointers.get(e.pointerId);
    pointers.delete(e.pointerId);
    if (pointers.size) return;
    const drawn = path;
    path = null;
    if (drawn) actions.trace(null);
    if (e.type === 'pointercancel' || crowded) return;
    if (moved <= CLICK[kind]) actions.click(...here, kind === 'touch');
    else if (drawn) actions.enclose(drawn);
  };
  canvas.addEventListener('pointerup', end);
  canvas.addEventListener('pointercancel', end);
  canvas.addEventListener('pointerleave', (e) => {
    if (e.pointerType === 'touch') return; // sent at the end of a tap
    cancelAnimationFrame(pending);
    if (!pointers.size) actions.leave();
  });
  // Without gestures of the browser: it would ignore a tap soon after a fast movement.
  canvas.addEventListener('touchstart', (e) => e.preventDefault(), { passive: false });
  canvas.addEventListener('wheel', (e) => {
    e.preventDefault();
    cancelAnimationFrame(pending);
    actions.leave();
    const pixels = e.deltaY * [1, 16, 200][e.deltaMode];
    actions.zoom(Math.exp(-0.0016 * Math.max(-400, Math.min(400, pixels))), ...at(e));
  }, { passive: false });
}

// Whether a point is inside a closed path.
export function isInside(path, x, y) {
  let inside = false;
  for (let a = 0, b = path.length - 1; a < path.length; b = a++) {
    const [[ax, ay], [bx, by]] = [path[a], path[b]];
    if (ay > y !== by > y && x < ax + ((y - ay) / (by - ay)) * (bx - ax)) inside = !inside;
  }
  return inside;
}
