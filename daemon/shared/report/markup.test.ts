// Escaping is the template's: no text, attribute or list reaches a page as mark-up.
import { expect, test } from 'vitest'
import { misleading } from '../../../test/support/text/hostile-text.ts'
import { html } from './markup.ts'

const attack = `"><script>alert('x')</script><svg onload=1>&amp;\u202e\u0000\n`

test('a text is escaped in an element, an attribute and a list', () => {
  const page = html`<p title="${attack}">${attack}${[attack, [attack]]}</p>`.toString()
  expect(page.replaceAll(/<p title="[^"<>]*">|<\/p>/g, '')).not.toMatch(/[<>"']/)
  expect(page).not.toMatch(misleading)
  expect(page.match(/&lt;script&gt;/g)).toHaveLength(4)
})

test('mark-up that the template made is joined as it is; what only looks like it is text', () => {
  const inner = html`<b>${'&'}</b>`
  expect(html`<p>${inner}${[inner]}${undefined}${0}</p>`.toString()).toBe('<p><b>&amp;</b><b>&amp;</b>0</p>')
  const forged = { toString: () => '<b>', '#text': '<b>' } as never
  expect(() => html`${forged}`).toThrow()
})

test('a text of any length takes a bounded place, with its length', () => {
  const page = html`${'<'.repeat(1_000_000)}`.toString()
  expect(page.length).toBeLessThan(5_000)
  expect(page).toContain('(1000000 characters)')
})
