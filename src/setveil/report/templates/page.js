(function () {
  // Only comfort: the page says everything without it.
  function each(query, act, within) { Array.prototype.forEach.call((within || document).querySelectorAll(query), act); }
  each('[data-needs-script]', function (part) { part.hidden = false; });
  each('button[data-open]', function (button) {
    button.addEventListener('click', function () {
      each('details', function (part) { part.open = button.dataset.open === 'yes'; }, button.closest('section'));
    });
  });

  // Long tables show their first rows; a button shows all, and a search looks through all.
  var SHOWN = 20;
  function fold(table) {
    var rows = table.tBodies[0].rows;
    Array.prototype.forEach.call(rows, function (row, number) { row.hidden = !table.dataset.unfolded && number >= SHOWN; });
  }
  each('table[data-long]', function (table) {
    var n = table.tBodies[0].rows.length;
    if (n <= SHOWN) { table.dataset.unfolded = 'yes'; return; }
    var button = document.createElement('button');
    button.type = 'button';
    button.className = 'more';
    button.textContent = 'show all ' + n + ' rows';
    button.addEventListener('click', function () {
      table.dataset.unfolded = table.dataset.unfolded ? '' : 'yes';
      button.textContent = table.dataset.unfolded ? 'show the first ' + SHOWN : 'show all ' + n + ' rows';
      fold(table);
    });
    table.parentNode.insertBefore(button, table.nextSibling);
    fold(table);
  });
  each('input[data-filter]', function (input) {
    var table = document.getElementById(input.dataset.filter), rows = table.tBodies[0].rows;
    input.addEventListener('input', function () {
      var wanted = input.value.toLowerCase(), shown = 0;
      if (!wanted) { fold(table); document.getElementById(table.id + '-shown').textContent = ''; return; }
      Array.prototype.forEach.call(rows, function (row) {
        row.hidden = row.textContent.toLowerCase().indexOf(wanted) < 0;
        if (!row.hidden) { shown += 1; }
      });
      document.getElementById(table.id + '-shown').textContent = shown + ' of ' + rows.length + ' rows';
    });
  });
  each('input[data-find]', function (input) {
    var picture = document.getElementById(input.dataset.find), told = document.getElementById(input.dataset.find + '-found');
    input.addEventListener('input', function () {
      var wanted = input.value.toLowerCase(), words = [];
      picture.classList.toggle('searching', wanted !== '');
      each('.block', function (block) {
        var text = block.firstChild.textContent, found = wanted !== '' && text.toLowerCase().indexOf(wanted) >= 0;
        block.classList.toggle('found', found);
        if (found) { words.push(text); }
      }, picture);
      told.textContent = wanted === '' ? '' : words.length ? words.slice(0, 3).join(' · ') + (words.length > 3 ? ' · ' + (words.length - 3) + ' more' : '') : 'not in the picture; look in the table';
    });
  });
  each('th button', function (button) {
    button.addEventListener('click', function () {
      var cell = button.parentNode, at = cell.cellIndex, body = cell.closest('table').tBodies[0];
      var down = cell.getAttribute('aria-sort') === 'ascending';
      each('th', function (other) { other.removeAttribute('aria-sort'); }, cell.parentNode);
      cell.setAttribute('aria-sort', down ? 'descending' : 'ascending');
      Array.from(body.rows).sort(function (a, b) {
        var x = a.cells[at] ? a.cells[at].dataset.v : '', y = b.cells[at] ? b.cells[at].dataset.v : '', n;
        if (x === '' || y === '') { return x === y ? 0 : x === '' ? 1 : -1; }
        n = isNaN(x) || isNaN(y) ? (x < y ? -1 : x > y ? 1 : 0) : x - y;
        return down ? -n : n;
      }).forEach(function (row) { body.appendChild(row); });
    });
  });
  var opened = [];
  window.addEventListener('beforeprint', function () {
    each('details:not([open])', function (part) { opened.push(part); part.open = true; });
  });
  window.addEventListener('afterprint', function () {
    opened.forEach(function (part) { part.open = false; });
    opened = [];
  });
})();
