extension PageTemplate {
    /// Draws the charts. Pictures over time are stretched, so that their texts stand around them.
    static let script = #"""
        'use strict';
        const facts = JSON.parse(document.querySelector('script').textContent);
        const number = (value) => value.toLocaleString('en-US', { maximumFractionDigits: 6 });

        function draw(parent, name, attributes, text) {
          const element = document.createElementNS('http://www.w3.org/2000/svg', name);
          for (const [key, value] of Object.entries(attributes)) element.setAttribute(key, value);
          if (text) element.textContent = text;
          return parent.appendChild(element);
        }

        const bar = (parent, hue, x, y, width, height) => draw(parent, 'rect', { class: hue, x, y, width, height });
        const told = (parent, text) => {
          const group = draw(parent, 'g', {});
          draw(group, 'title', {}, text);
          return group;
        };

        function stretched(parent, kind, width, height, name) {
          const attributes = { class: kind, viewBox: `0 0 ${width} ${height}`, preserveAspectRatio: 'none' };
          return draw(parent, 'svg', { ...attributes, role: 'img', 'aria-label': name });
        }

        // MARK: Time

        function time(milliseconds, width) {
          const digits = width >= 864e5 ? 10 : width >= 6e4 ? 16 : width >= 1000 ? 19 : 23;
          return new Date(milliseconds).toISOString().slice(0, digits).replace('T', ' ');
        }

        const label = (axis, column) => time(axis.start + column * axis.width, axis.width);

        function ends(parent, texts) {
          const line = parent.appendChild(document.createElement('div'));
          line.className = 'axis';
          for (const [index, text] of texts.entries()) {
            const place = line.appendChild(document.createElement('span'));
            place.textContent = text;
            if (index > 0 && index + 1 < texts.length) place.className = 'mid';
          }
        }

        const labels = (axis, columns) => columns.map((column) => label(axis, column));

        function stack(svg, axis, series, least) {
          const all = (column) => series.reduce((sum, one) => sum + one.values[column], 0);
          const sums = Array.from({ length: axis.count }, (_, column) => all(column));
          const top = Math.max(...sums) || 1;
          // Few columns are not a wall.
          const width = Math.min(0.88, axis.count * 0.08);
          for (const column of sums.keys()) {
            const parts = series.filter((one) => one.values[column] > 0);
            if (parts.length === 0) continue;
            const names = parts.map((one) => `${number(one.values[column])} ${one.name}`).join(', ');
            const group = told(svg, `${label(axis, column)}: ${names}`);
            let y = 100;
            for (const one of parts) {
              // What is there is seen, however few it is.
              const height = Math.max(least, (one.values[column] / top) * 100);
              y -= height;
              bar(group, one.hue, column + (1 - width) / 2, Math.max(0, y), width, height);
            }
          }
        }

        function columns(figure, { title, axis, series }) {
          const svg = stretched(figure, 'time', axis.count, 100, title);
          for (const y of [0, 50]) bar(svg, 'rule', 0, y, axis.count, 0.5);
          stack(svg, axis, series, 1.5);
          ends(figure, labels(axis, axis.count > 2 ? [0, axis.count >> 1, axis.count] : [0, axis.count]));
        }

        function rates(figure, { title, axis, rates, bound, top }) {
          const svg = stretched(figure, 'time', axis.count, 100, title);
          const y = (share) => 100 - Math.min(1, share / top) * 100;
          const percent = (share) => `${(share * 100).toFixed(2)} %`;
          const width = Math.min(0.8, axis.count * 0.08);
          bar(svg, 'rule', 0, 99.5, axis.count, 0.5);
          for (const [column, rate] of rates.entries()) {
            if (!rate) continue;
            const [x, share] = [column + (1 - width) / 2, rate.part / rate.of];
            const text = `${number(rate.part)} of ${number(rate.of)} failed, ${percent(share)}`;
            const group = told(svg, `${label(axis, column)}: ${text} (${percent(rate.low)} to ${percent(rate.high)})`);
            bar(group, 'band', x, y(rate.high), width, Math.max(0.5, y(rate.low) - y(rate.high)));
            bar(group, 'orange', x, Math.min(98, Math.max(0, y(share) - 1)), width, 2);
          }
          draw(svg, 'path', { class: 'bound', d: `M0 ${y(bound)}H${axis.count}` });
          ends(figure, labels(axis, axis.count > 2 ? [0, axis.count >> 1, axis.count] : [0, axis.count]));
        }

        // MARK: Lines, of one width: a phone shows their texts at nearly the size that they have

        const say = (svg, text, x, y, kind = '', anchor = 'start') =>
          draw(svg, 'text', { x, y, class: kind, 'text-anchor': anchor }, text);
        const line = (svg, kind, ...points) => draw(svg, 'path', { class: kind, d: `M${points.join('L')}` });

        // A shape for each series, for those who do not tell its colour.
        function point(svg, index, hue, x, y) {
          const shapes = [
            `M${x - 4} ${y}a4 4 0 1 0 8 0a4 4 0 1 0 -8 0z`, `M${x - 3.5} ${y - 3.5}h7v7h-7z`,
            `M${x} ${y - 5}L${x + 5} ${y}L${x} ${y + 5}L${x - 5} ${y}z`,
          ];
          draw(svg, 'path', { class: `point ${hue}`, d: shapes[index % shapes.length] });
        }

        function lines(figure, { title, x: across, y: up, steps, series }) {
          const svg = draw(figure, 'svg', { viewBox: '0 0 420 314', role: 'img', 'aria-label': title });
          const [left, right, top, bottom] = [56, 300, 30, 270];
          const values = series.flatMap((one) => one.values);
          const [low, high] = [Math.min(...values) * 0.8, Math.max(...values) * 1.25];
          const y = (value) => bottom - (Math.log(value / low) / Math.log(high / low)) * (bottom - top);
          const x = (index) => left + ((right - left) / steps.length) * (index + 0.5);
          const powers = [];
          for (let power = 10 ** Math.floor(Math.log10(low)); power <= high; power *= 10) powers.push(power);
          const inside = (ticks) => ticks.filter((tick) => tick >= low && tick <= high);
          const fine = inside(powers.flatMap((power) => [power, 2 * power, 5 * power]));
          say(svg, up, 8, 16, 'small');
          for (const tick of fine.length > 8 ? inside(powers) : fine) {
            line(svg, 'grid', [left, y(tick)], [right, y(tick)]);
            say(svg, number(tick), left - 8, y(tick) + 4, 'small', 'end');
          }
          for (const [index, step] of steps.entries()) say(svg, number(step), x(index), bottom + 18, 'small', 'middle');
          line(svg, 'edge', [left, top], [left, bottom], [right, bottom]);
          say(svg, across, (left + right) / 2, bottom + 36, 'small', 'middle');
          for (const [index, one] of series.entries()) {
            const points = one.values.map((value, at) => [x(at), y(value)]);
            line(svg, `line ${one.hue}`, ...points);
            for (const place of points) point(svg, index, one.hue, ...place);
          }
          // Names of lines that end close to each other are moved apart.
          const last = [...series.entries()].map(([index, one]) => ({ index, one, y: y(one.values.at(-1)) }));
          let free = 0;
          for (const { index, one, y: wanted } of last.sort((a, b) => a.y - b.y)) {
            const place = Math.max(wanted, free);
            point(svg, index, one.hue, right + 12, place);
            say(svg, one.name, right + 22, place - 1);
            say(svg, one.text, right + 22, place + 14, 'value');
            free = place + 32;
          }
        }

        // MARK: Tables with a chart in each row

        function strip(cell, name, { drawn }, { from, to, kinds }) {
          const svg = stretched(cell, 'strip', 1000, 20, name);
          bar(svg, 'rule', 0, 19, 1000, 1);
          for (const [at, kind] of drawn) {
            const x = to > from ? ((at - from) / (to - from)) * 996 : 498;
            const group = told(svg, `${time(at, 1)}: ${kinds[kind].name}`);
            bar(group, kinds[kind].hue, x, kind ? 0 : 11, 4, kind ? 19 : 8);
          }
        }

        function parts(cell, name, { drawn, hue }, hues, top) {
          const svg = stretched(cell, 'bar', 1000, 10, name);
          let x = 0;
          for (const [index, value] of drawn.entries()) {
            if (value === 0) continue;
            const width = Math.max(6, (value / top) * 980);
            bar(svg, hue ?? hues[index], x, 0, width, 10);
            x += width + 2;
          }
        }

        function rows(table, { rows, chart }) {
          const cells = table.querySelectorAll('td.drawn');
          const all = rows.filter((row) => row.drawn);
          const sums = all.map((row) => row.drawn.reduce((sum, value) => sum + value, 0));
          const head = table.querySelector('th.drawn');
          if (chart.kind === 'columns') ends(head, labels(chart.axis, [0, chart.axis.count]));
          const width = (chart.to - chart.from) / 100;
          if (chart.kind === 'marks') ends(head, [chart.from, chart.to].map((at) => time(at, width)));
          for (const [index, row] of all.entries()) {
            const [cell, name] = [cells[index], String(row.cells[0])];
            if (chart.kind === 'marks') strip(cell, name, row, chart);
            if (chart.kind === 'parts') parts(cell, name, row, chart.hues, Math.max(1, ...sums));
            if (chart.kind !== 'columns') continue;
            const svg = stretched(cell, 'row', chart.axis.count, 100, name);
            bar(svg, 'rule', 0, 99, chart.axis.count, 1);
            stack(svg, chart.axis, [{ name: '', hue: row.hue, values: row.drawn }], 6);
          }
        }

        const kinds = { columns, rates, lines };
        for (const [index, section] of facts.sections.entries()) {
          for (const [place, { table, chart }] of section.parts.entries()) {
            const element = document.getElementById(`p-${index}-${place}`);
            if (table?.chart) rows(element, table);
            if (chart) kinds[chart.kind](element, chart);
          }
        }
        """#
}
