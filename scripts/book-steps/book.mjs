// Makes one HTML file of all documents: no script, no font and no address outside of it, so that it opens on any machine.
import fs from 'node:fs'
import path from 'node:path'
import { readContents } from './contents.mjs'
import { escapeHtml, pageId, renderPage } from './render-page.mjs'

/** The text of the book; the same for the same documents. */
export function renderBook(root) {
  const parts = readContents(root)
  const files = new Set(parts.flatMap(({ pages }) => pages.map(({ file }) => file)))
  const isPage = (file) => files.has(file)
  const rendered = parts.map(({ title, pages }) => ({
    title,
    pages: pages.map((page) => {
      const text = fs.readFileSync(path.join(root, page.file), 'utf8')
      return { ...page, id: pageId(page.file), ...renderPage({ file: page.file, text, isPage }) }
    }),
  }))
  const { version } = JSON.parse(fs.readFileSync(path.join(root, 'package.json'), 'utf8'))
  const style = fs.readFileSync(path.join(import.meta.dirname, 'book.css'), 'utf8')
  return `<!doctype html>
<html lang="en">
<head>
<meta charset="utf-8">
<meta http-equiv="Content-Security-Policy" content="default-src 'none'; style-src 'unsafe-inline'">
<meta name="viewport" content="width=device-width, initial-scale=1">
<title>platform ${version}</title>
<style>
${style}</style>
</head>
<body>
<a class="skip" href="#text">Skip the contents</a>
<nav aria-label="Contents">
<p class="title">platform ${version}</p>
${rendered.map(contentsOf).join('\n')}
</nav>
<main id="text">
${rendered.map(partOf).join('\n')}
</main>
</body>
</html>
`
}

function contentsOf({ title, pages }) {
  const entries = pages.map(
    ({ title, id, headings }) => `<li><a href="#${id}">${escapeHtml(title)}</a>${sectionsOf(headings)}</li>`,
  )
  return `<p>${escapeHtml(title)}</p>\n<ul>\n${entries.join('\n')}\n</ul>`
}

/** Pages of many sections fold theirs away; the element needs no script. */
function sectionsOf(headings) {
  const sections = headings.filter(({ level }) => level === 3)
  if (sections.length < 2) return ''
  const items = sections.map(({ id, text }) => `<li><a href="#${id}">${text}</a></li>`).join('')
  return `<details><summary>sections</summary><ul>${items}</ul></details>`
}

function partOf({ title, pages }) {
  const sections = pages.map(({ id, html }) => `<section id="${id}">\n${html}</section>`)
  return `<h1>${escapeHtml(title)}</h1>\n${sections.join('\n')}`
}
