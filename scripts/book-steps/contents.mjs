// The order of the book: the parts and pages of docs/README.md.
import fs from 'node:fs'
import path from 'node:path'

const heading = /^## (.+)$/
const entry = /^- \[(.+)\]\((.+)\)$/

/** Parts `{ title, pages: [{ title, file }] }` with paths from the root. A folder stands for its pages, by name. */
export function readContents(root) {
  const parts = []
  for (const line of fs.readFileSync(path.join(root, 'docs/README.md'), 'utf8').split('\n')) {
    const [, part] = heading.exec(line) ?? []
    if (part) parts.push({ title: part, pages: [] })
    const [, title, target] = entry.exec(line) ?? []
    if (target) parts.at(-1).pages.push(...pagesOf(root, { title, file: path.posix.join('docs', target) }))
  }
  return parts
}

function pagesOf(root, { title, file }) {
  if (!fs.statSync(path.join(root, file)).isDirectory()) return [{ title, file }]
  return fs
    .readdirSync(path.join(root, file))
    .filter((name) => name.endsWith('.md'))
    .sort()
    .map((name) => ({ title: titleOf(path.join(root, file, name)), file: path.posix.join(file, name) }))
}

function titleOf(file) {
  return fs.readFileSync(file, 'utf8').split('\n', 1)[0].replace(/^# /, '')
}
