// Renders one Markdown page as a section of the book.
import path from 'node:path'
import { Marked } from 'marked'
import { getHeadingList, gfmHeadingId } from 'marked-gfm-heading-id'

/** An id of a page: its path without the ending. */
export const pageId = (file) =>
  file
    .replace(/^docs\//, '')
    .replace(/\.md$/, '')
    .replaceAll('/', '-')
    .toLowerCase()

/**
 * HTML of a page and its headings. A link to a page of the book leads inside the book, one to another file of docs/ to that
 * file beside the book; other files of the repository are not in a bundle, so their links become text.
 */
export function renderPage({ file, text, isPage }) {
  const marked = new Marked(gfmHeadingId({ prefix: `${pageId(file)}--` }), {
    walkTokens(token) {
      // The part of the book is the first level.
      if (token.type === 'heading') token.depth = Math.min(token.depth + 1, 6)
    },
    renderer: {
      link({ href, tokens }) {
        const label = this.parser.parseInline(tokens)
        const target = targetOf({ file, href, isPage })
        return target === undefined ? label : `<a href="${target}">${label}</a>`
      },
      html({ text }) {
        throw new Error(`${file} has HTML, which the book does not take: ${text}`)
      },
      table(token) {
        const row = (cells, tag) =>
          `<tr>${cells.map((cell) => `<${tag}>${this.parser.parseInline(cell.tokens)}</${tag}>`).join('')}</tr>`
        const body = token.rows.map((cells) => row(cells, 'td')).join('\n')
        // Wide tables scroll by themselves; a place that scrolls must be reached by the keyboard.
        return `<div class="table" tabindex="0" role="region" aria-label="table"><table>\n<thead>${row(token.header, 'th scope="col"').replaceAll('</th scope="col">', '</th>')}</thead>\n<tbody>${body}</tbody>\n</table></div>\n`
      },
      code({ text }) {
        return `<pre tabindex="0"><code>${escapeHtml(text)}</code></pre>\n`
      },
    },
  })
  const html = marked.parse(text)
  return { html, headings: getHeadingList() }
}

export function escapeHtml(text) {
  return text.replace(/[&<>"']/g, (character) => `&#${character.charCodeAt(0)};`)
}

function targetOf({ file, href, isPage }) {
  if (/^[a-z]+:/.test(href)) return undefined
  const [name, fragment] = href.split('#')
  const target = name === '' ? file : path.posix.join(path.posix.dirname(file), name)
  if (isPage(target)) return fragment ? `#${pageId(target)}--${fragment}` : `#${pageId(target)}`
  if (target.startsWith('docs/')) return target.slice('docs/'.length)
  return undefined
}
