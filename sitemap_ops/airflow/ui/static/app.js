// The colours that the reader chose in Airflow, also when they change; the system's where nothing was chosen.
function followTheme() {
  const theme = localStorage.getItem("theme");
  if (theme === "dark" || theme === "light") document.documentElement.dataset.theme = theme;
  else delete document.documentElement.dataset.theme;
}
followTheme();
addEventListener("storage", followTheme);

// Airflow's frame may not leave its window: a link that leads out of the page is followed by Airflow's own document.
const framed = window.parent !== window;
document.documentElement.classList.toggle("framed", framed);
if (framed) {
  addEventListener("click", (event) => {
    const link = event.target.closest("a[target=_top]");
    if (!link) return;
    event.preventDefault();
    const outside = window.parent.document.createElement("a");
    outside.href = link.href;
    outside.click();
  });
}
