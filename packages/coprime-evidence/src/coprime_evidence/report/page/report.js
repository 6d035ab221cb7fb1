(() => {
  const data = JSON.parse(document.getElementById("data").textContent);
  const form = document.getElementById("filters");
  const byId = new Map(data.rows.map((row) => [row.id, row]));
  const drawn = new Map(); // the charts on the page, by figure
  let shown = [];
  let updates = 0;
  let columns = 0; // of the legends on the page
  let chosen = null;
  let order = { column: "bits", descending: false };

  const element = (tag, properties = {}, ...children) => {
    const made = Object.assign(document.createElement(tag), properties);
    made.append(...children);
    return made;
  };
  const show = (value) => {
    if (value === null || value === undefined) return "–";
    if (typeof value !== "number") return String(value);
    if (Math.abs(value) < 1) return String(Number(value.toPrecision(4)));
    return value.toLocaleString("en", { maximumFractionDigits: Math.abs(value) < 1000 ? 3 : 0 });
  };
  const plotted = () => data.targets.find((one) => one.target === form.elements.target.value);

  // --- Filters -----------------------------------------------------------------------------------

  const choices = {
    target: "target", device: "device",
    operation: "operation", exponents: "exponents", part: "part",
  };
  const budgets = { "max-dsp": "dsp", "max-area": "area", "max-bram": "bram", "max-time": "time" };

  // Each choice offers what the choices before it leave; a value that is gone gives way to the first.
  function narrow() {
    let rows = data.rows;
    for (const [name, column] of Object.entries(choices)) {
      const field = form.elements[name];
      const there = new Set(rows.map((row) => row[column]));
      for (const option of field.options) option.disabled = option.hidden = !there.has(option.value);
      if (field.selectedOptions[0].disabled) {
        field.value = [...field.options].find((option) => !option.disabled).value;
      }
      rows = rows.filter((row) => row[column] === field.value);
    }
    return rows;
  }

  function passing() {
    const fields = form.elements;
    const families = new Set(
      [...form.querySelectorAll("input[name=family]:checked")].map((box) => box.value));
    return narrow().filter((row) =>
      families.has(row.family)
      && (fields.bits.value === "all" || row.bits === Number(fields.bits.value))
      && Object.entries(budgets).every(([name, column]) => {
        const limit = fields[name].value;
        return limit === "" || (row[column] !== null && row[column] <= Number(limit));
      }));
  }

  // The page says when what it shows is up to date.
  async function update() {
    const mine = ++updates;
    document.body.dataset.ready = "no";
    shown = passing();
    const all = data.rows.length;
    document.getElementById("count").textContent =
      `${shown.length.toLocaleString("en")} of ${all.toLocaleString("en")} points`;
    for (const one of document.querySelectorAll(".area-unit")) one.textContent = plotted().area;
    for (const one of document.querySelectorAll(".time-unit")) one.textContent = plotted().time;
    fillTable();
    if (chosen !== null && !shown.includes(chosen)) open(null);
    columns = legendColumns();
    await Promise.all(plotted().figures.map(draw));
    if (mine === updates) document.body.dataset.ready = "yes";
  }

  // --- Plots -------------------------------------------------------------------------------------

  // Columns of a legend: as many as there is room for between axis and menu.
  function legendColumns() {
    const width = document.querySelector(".plot").clientWidth;
    return Math.max(1, Math.min(5, Math.floor((width - 80) / 130)));
  }
  const withLegend = (spec, legend) =>
    JSON.parse(JSON.stringify(spec), (key, value) =>
      key === "legend" && value ? { ...value, ...legend } : value);

  async function draw(figure) {
    const place = document.getElementById(`plot-${figure.name}`);
    const usable = shown.filter((row) => row[figure.x] !== null && row[figure.y] !== null);
    const there = new Set(usable.map((row) => row.family));
    const values = plotted().families.filter((family) => there.has(family));
    const spec = {
      ...withLegend(figure.spec, { columns, values }), data: { values: usable }, width: "container", height: 280, config: data.style,
      autosize: { type: "fit", contains: "padding" },
    };
    drawn.get(figure.name)?.finalize();
    drawn.delete(figure.name);
    if (!usable.length) {
      const reason = shown.length
        ? "These points have no figures for this plot."
        : "No point passes these filters.";
      place.replaceChildren(element("div", { className: "empty", textContent: reason }));
      return;
    }
    const holder = element("div", { className: "vega-embed" });
    place.replaceChildren(holder);
    const result = await window.coprimeEmbed(holder, spec, {
      renderer: "svg",
      actions: { export: true, source: false, compiled: false, editor: false },
      downloadFileName: figure.name,
    });
    if (!holder.isConnected) { result.finalize(); return; } // a newer drawing has taken its place
    drawn.set(figure.name, result);
    result.view.addEventListener("click", (event, item) => {
      const row = item && item.datum && byId.get(item.datum.id);
      if (row) open(row);
    });
  }

  // --- One point ---------------------------------------------------------------------------------

  function open(row) {
    chosen = row;
    const place = document.getElementById("point");
    for (const line of document.querySelectorAll("#points tbody tr")) {
      line.classList.toggle("chosen", row !== null && Number(line.dataset.id) === row.id);
    }
    if (row === null) {
      place.replaceChildren(element("p", {
        className: "soft", textContent: "Choose a point in a plot, or a row of the table below." }));
      return;
    }
    const facts = element("dl");
    for (const [name, value] of [
      ["Family", row.family + (row.paper ? ` (${row.paper})` : "")],
      ["Cores", row.cores],
      ...Object.entries(row.parameters).map(([name, value]) => [name, String(value)]),
      ["Operation", `${row.operation}${row.bits ? `, ${row.bits} bits` : ""}, ${data.exponents[row.exponents] ?? row.exponents}`],
      ["Device", `${row.device ?? row.target}, ${row.part}`],
      ["LUTs", row.lut === null ? null : `${show(row.lut)} (${show(row.lutram)} as memory)`],
      ["Flip-flops", row.ff], ["Carry cells", row.carry], ["DSP slices", row.dsp],
      ["Block RAM", row.bram], ["Slices, at least", row.slices_estimate],
      ["Unit-gate area", row.gate_area], ["Unit-gate delay", row.gate_delay],
      ["Memory bits", row.memory_bits],
      ["Clock", row.fmax_mhz === null ? null : `${show(row.fmax_mhz)} MHz after place and route`],
      ["Cycles", row.cycles],
      ["Predicted cycles", row.cycles === row.predicted_cycles ? null : row.predicted_cycles],
      ["Multiplier at work", row.utilization === null ? null : `${show(100 * row.utilization)} %`],
      ["Time", row.milliseconds === null ? null : `${show(row.milliseconds)} ms`],
      ["Tools", Object.entries(row.tools).map((pair) => pair.join(" ")).join(", ")],
    ]) {
      if (value === null || value === undefined || value === "") continue;
      const text = typeof value === "number" ? show(value) : value;
      facts.append(element("dt", { textContent: name }), element("dd", { textContent: text }));
    }
    const lines = [facts];
    for (const [what, command] of row.commands) {
      const copy = element("button", { type: "button", textContent: "Copy" });
      copy.addEventListener("click", async () => {
        await navigator.clipboard.writeText(command);
        copy.textContent = "Copied";
        setTimeout(() => { copy.textContent = "Copy"; }, 1500);
      });
      lines.push(
        element("div", { className: "small soft", textContent: what }),
        element("div", { className: "command" }, element("code", { textContent: command }), copy));
    }
    place.replaceChildren(...lines);
  }

  // --- Table -------------------------------------------------------------------------------------

  function fillTable() {
    const columns = [];
    for (const button of document.querySelectorAll("#points th button")) {
      const column = button.dataset.column;
      button.parentElement.hidden = !shown.some((row) => row[column] !== null);
      if (!button.parentElement.hidden) columns.push({ column, label: button.textContent });
    }
    const sign = order.descending ? -1 : 1;
    const sorted = [...shown].sort((a, b) => {
      const [x, y] = [a[order.column], b[order.column]];
      if (x === y) return a.id - b.id;
      if (x === null) return 1;
      if (y === null) return -1;
      return x < y ? -sign : sign;
    });
    document.querySelector("#points tbody").replaceChildren(...sorted.map((row) => {
      const line = element("tr", { tabIndex: 0 }, ...columns.map(({ column, label }) => {
        const cell = element("td", { textContent: column === "bits" ? row.bits || "–" : show(row[column]) });
        if (typeof row[column] === "string") cell.className = "text";
        else cell.dataset.label = label;
        return cell;
      }));
      line.dataset.id = row.id;
      line.classList.toggle("chosen", row === chosen);
      return line;
    }));
    for (const button of document.querySelectorAll("#points th button")) {
      const mine = button.dataset.column === order.column;
      const state = mine ? (order.descending ? "descending" : "ascending") : "none";
      button.parentElement.setAttribute("aria-sort", state);
    }
  }

  const table = document.getElementById("points");
  const openLine = (event) => {
    const line = event.target.closest("tbody tr");
    if (line) open(byId.get(Number(line.dataset.id)));
  };
  table.addEventListener("click", (event) => {
    const button = event.target.closest("th button");
    if (!button) { openLine(event); return; }
    const column = button.dataset.column;
    order = { column, descending: order.column === column && !order.descending };
    fillTable();
  });
  table.addEventListener("keydown", (event) => { if (event.key === "Enter") openLine(event); });

  // --- The papers ----------------------------------------------------------------------------------

  // Tables are open where there is room for them; on a telephone they open when they are asked for.
  const isNarrow = window.matchMedia("(max-width: 600px)").matches;
  for (const one of document.querySelectorAll("details[data-open]")) one.open = !isNarrow;

  // --- Start -------------------------------------------------------------------------------------

  form.addEventListener("input", update);
  form.addEventListener("submit", (event) => event.preventDefault());
  form.addEventListener("reset", () => setTimeout(update));
  window.addEventListener("resize", () => { if (legendColumns() !== columns) update(); });
  open(null);
  if (data.rows.length) update();
  else document.body.dataset.ready = "yes";
})();
