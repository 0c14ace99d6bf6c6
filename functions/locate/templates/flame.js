"use strict";
// A click on a box shows what is below it in full width; a click on everything goes back.
for (const flame of document.querySelectorAll("svg.flame")) {
  const { width, letter } = flame.dataset;
  const boxes = [...flame.querySelectorAll("g")].map((group) => {
    const [rect, text] = [group.querySelector("rect"), group.querySelector("text")];
    return {
      group, rect, text, name: text.dataset.name,
      x: +rect.getAttribute("x"), w: +rect.getAttribute("width"), y: +rect.getAttribute("y"),
    };
  });
  const show = (chosen) => {
    const scale = width / chosen.w;
    for (const box of boxes) {
      const above = box.y < chosen.y && box.x <= chosen.x + 0.01 && box.x + box.w >= chosen.x + chosen.w - 0.01;
      const below = box.y >= chosen.y && box.x >= chosen.x - 0.01 && box.x + box.w <= chosen.x + chosen.w + 0.01;
      box.group.style.display = above || below ? "" : "none";
      const [x, w] = above ? [0, +width] : [(box.x - chosen.x) * scale, box.w * scale];
      box.rect.setAttribute("x", x);
      box.rect.setAttribute("width", w);
      box.rect.style.opacity = above ? 0.5 : 1;
      box.text.setAttribute("x", x + 3);
      const letters = Math.floor((w - 6) / letter);
      const whole = [...box.name];
      box.text.textContent =
        letters < 3 ? "" : whole.length <= letters ? box.name : whole.slice(0, letters - 1).join("") + "…";
    }
  };
  for (const box of boxes) box.group.addEventListener("click", () => show(box));
}

// Finds functions by a part of their name in all graphs.
for (const search of document.querySelectorAll("input.find")) {
  search.closest("label").hidden = false;
  search.addEventListener("input", () => {
    const wanted = search.value.toLowerCase();
    for (const text of document.querySelectorAll("svg.flame text")) {
      const found = wanted !== "" && text.dataset.name.toLowerCase().includes(wanted);
      text.previousElementSibling.classList.toggle("found", found);
    }
  });
}
