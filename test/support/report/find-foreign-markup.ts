// Looks in the page of a report for elements and attributes that its templates do not have.

const elements =
  'html|head|meta|title|style|body|main|header|nav|footer|section|article|figure|figcaption|h1|h2|h3|p|ul|li|a|dl|dt|dd|div|table|caption|thead|tbody|tfoot|tr|th|td|details|summary|strong|small|span|code|kbd|mark|button|output|svg|g|path|rect|circle|text|title'
const attributes =
  'lang|charset|http-equiv|content|name|id|class|href|scope|aria-label|aria-live|aria-hidden|role|tabindex|title|type|hidden|disabled|data-pair|data-move|data-decision|data-cluster|data-act|data-record|viewBox|preserveAspectRatio|d|x|y|cx|cy|r|rx|width|height|text-anchor'
const tag = new RegExp(`</?(?:${elements})(?:\\s+(?:${attributes})(?:="[^"<>]*")?)*/?>`, 'g')

/** The page without its style and scripts. */
export function removeScripts(page: string): string {
  return page.replaceAll(/<(style|script)[^>]*>[\s\S]*?<\/\1>/g, '')
}

/** What is left of a page without its known mark-up: text alone. */
export function readPageText(page: string): string {
  return removeScripts(page).replace('<!doctype html>', '').replaceAll(tag, '')
}

/** The first mark-up that is not of the templates, with what stands beside it. */
export function findForeignMarkup(page: string): string | undefined {
  return readPageText(page).match(/[\s\S]{0,40}[<>][\s\S]{0,40}/)?.[0]
}
