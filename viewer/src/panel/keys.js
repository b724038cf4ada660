// Puts one button of a group in the Tab order. Arrow keys move the focus to the others; up and down
// stay in the column.
export function enableArrowKeys(host, buttons) {
  const makeCurrent = (button) => {
    buttons.forEach((b) => (b.tabIndex = b === button ? 0 : -1));
    return button;
  };
  if (buttons.length) makeCurrent(buttons[0]);
  host.addEventListener('click', (e) => buttons.includes(e.target) && makeCurrent(e.target));
  host.addEventListener('keydown', (e) => {
    const at = buttons.indexOf(e.target);
    const directions = { ArrowLeft: [-1, false], ArrowRight: [1, false], ArrowUp: [-1, true], ArrowDown: [1, true] };
    if (at < 0 || !directions[e.key]) return;
    const [by, column] = directions[e.key];
    const reachable = (b) => !column || Math.abs(b.getBoundingClientRect().left - e.target.getBoundingClientRect().left) < 4;
    for (let next = at + by; next >= 0 && next < buttons.length; next += by) {
      if (!reachable(buttons[next])) continue;
      makeCurrent(buttons[next]).focus();
      break;
    }
    e.preventDefault();
  });
}
