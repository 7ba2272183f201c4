// Barriers to people with disabilities that axe-core finds in an open page: rules of WCAG 2.2, levels A and AA, and best practices.
import { readFileSync } from 'node:fs'
import type { BrowserPage } from './chromium.ts'

const axe = readFileSync(new URL('../../../node_modules/axe-core/axe.min.js', import.meta.url), 'utf8')

/** One line for each barrier: the rule, and the element. */
export async function findBarriers(page: BrowserPage): Promise<string[]> {
  // By the debugger: the policy of the page lets no other script in.
  await page.read(`${axe}; undefined`)
  return await page.read(
    "axe.run(document, { resultTypes: ['violations'] }).then(({ violations }) => violations.flatMap(({ id, nodes }) => nodes.map(({ html }) => id + ': ' + html.slice(0, 160))))",
  )
}
