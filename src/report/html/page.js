// SPDX-License-Identifier: Apache-2.0
// Filters and the light/dark switch. Without it the page is complete, only these controls are hidden.
(function () {
	'use strict';

	const form = document.getElementById('filters');
	const theme = document.getElementById('theme');
	const shown = document.getElementById('shown');
	const rows = Array.from(document.querySelectorAll('.verdict')).map(function (element) {
		const subject = element.querySelector('.subject');

		return {
			element: element,
			status: element.dataset.status,
			level: element.dataset.level,
			node: element.dataset.node,
			subject: subject ? subject.textContent : '',
			text: element.textContent.toLowerCase(),
		};
	});

	function wanted(row, choice) {
		if (!choice.statuses.includes(row.status))
			return false;
		if (choice.level && row.level !== choice.level)
			return false;
		// the subject of a pair names both of its nodes
		if (choice.node && row.node !== choice.node &&
		    !row.subject.split(/[ /]/).includes(choice.node))
			return false;
		return choice.words.every(function (word) {
			return row.text.includes(word);
		});
	}

	function anyShown(parent) {
		return Array.from(parent.querySelectorAll('.verdict')).some(function (element) {
			return !element.hidden;
		});
	}

	function apply() {
		const choice = {
			statuses: Array.from(form.querySelectorAll('[name=status]:checked')).map(function (box) {
				return box.value;
			}),
			level: form.elements.level.value,
			node: form.elements.node.value,
			words: form.elements.text.value.toLowerCase().split(/\s+/).filter(Boolean),
		};
		let count = 0;

		rows.forEach(function (row) {
			row.element.hidden = !wanted(row, choice);
			count += row.element.hidden ? 0 : 1;
		});
		document.querySelectorAll('.alike').forEach(function (item) {
			const some = anyShown(item);

			item.hidden = !some;
			// when the row that stands for them is filtered out, they must be seen themselves
			if (some && item.previousElementSibling.hidden)
				item.firstElementChild.open = true;
		});
		document.querySelectorAll('.phase').forEach(function (phase) {
			phase.hidden = !phase.querySelector('.railhead') && !anyShown(phase);
		});
		shown.textContent = count === rows.length ? rows.length + ' verdicts' :
			count + ' of ' + rows.length + ' verdicts';
	}

	function isDark() {
		const chosen = document.documentElement.dataset.theme;

		return chosen ? chosen === 'dark' : matchMedia('(prefers-color-scheme: dark)').matches;
	}

	function label() {
		theme.textContent = isDark() ? 'Light' : 'Dark';
		theme.setAttribute('aria-label', 'Switch to ' + (isDark() ? 'light' : 'dark') + ' colours');
	}

	// a page of proofs alone has no ladder
	if (form) {
		form.hidden = false;
		form.addEventListener('input', apply);
		form.addEventListener('reset', function () {
			setTimeout(apply);
		});
		form.addEventListener('submit', function (event) {
			event.preventDefault();
		});
		apply();
	}
	theme.hidden = false;
	theme.addEventListener('click', function () {
		document.documentElement.dataset.theme = isDark() ? 'light' : 'dark';
		label();
	});
	matchMedia('(prefers-color-scheme: dark)').addEventListener('change', label);
	label();
})();
