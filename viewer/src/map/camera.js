// The view of the map: from positions (the middle of the box is (0, 0), its longer side is 1) to
// CSS pixels.
const MIN_ZOOM = 0.2; // relative to the view that fits
const MAX_ZOOM = 50000;

export class Camera {
  x = 0;
  y = 0;
  scale = 1; // pixels per unit
  wide = 1;
  high = 1;
  fitScale = 1;
  fitted = true; // the user has not moved the view since the last fit

  at(u, v) {
    return [(u - this.x) * this.scale + this.wide / 2, this.high / 2 - (v - this.y) * this.scale];
  }

  // The position at a pixel.
  from(px, py) {
    return [(px - this.wide / 2) / this.scale + this.x, (this.high / 2 - py) / this.scale + this.y];
  }

  pan(dx, dy) {
    this.x -= dx / this.scale;
    this.y += dy / this.scale;
    this.fitted = false;
  }

  // Scales about a pixel, by default the middle.
  zoom(factor, px = this.wide / 2, py = this.high / 2) {
    const [u, v] = this.from(px, py);
    this.scale = Math.min(MAX_ZOOM * this.fitScale, Math.max(MIN_ZOOM * this.fitScale, this.scale * factor));
    const [qx, qy] = this.at(u, v);
    this.pan(px - qx, py - qy);
  }

  // Shows a box [left, bottom, right, top] between the pixels that are covered above and below.
  fit([left, bottom, right, top], above, below) {
    const margin = Math.min(56, 0.09 * Math.min(this.wide, this.high));
    const room = Math.max(20, this.high - above - below);
    this.fitScale = Math.min((this.wide - 2 * margin) / (right - left || 1e-3), (room - 2 * margin) / (top - bottom || 1e-3));
    this.scale = this.fitScale;
    this.x = (left + right) / 2;
    this.y = (bottom + top) / 2 + (above - below) / 2 / this.scale;
    this.fitted = true;
  }

  // The view as [x, y, extent], with the extent of the shorter side; null: the view that fits.
  get() {
    return this.fitted ? null : [this.x, this.y, Math.min(this.wide, this.high) / this.scale];
  }

  set([x, y, extent]) {
    [this.x, this.y] = [x, y];
    this.scale = Math.min(this.wide, this.high) / extent;
    this.fitted = false;
  }
}
