// The pages of evidence, dissents, sites and audit logs: what they answer first, hostile texts, and enormous results.
import { createHash } from 'node:crypto'
import { describe, expect, test } from 'vitest'
import { findForeignMarkup, removeScripts } from '../../../test/support/report/find-foreign-markup.ts'
import {
  renderSampleDissent,
  renderSampleDissents,
  renderSampleEvidence,
} from '../../../test/support/report/sample-sessions.ts'
import { renderSampleAudit, renderSampleSite } from '../../../test/support/report/sample-sites.ts'
import { misleading } from '../../../test/support/text/hostile-text.ts'

const hostile =
  '</script></title></style><img src=x onerror=alert(1)><svg/onload=alert(2)>"\'`&{}<!--\u2028\u202e\u0000\ud800'
const attack = (name: string) => `${name}${hostile}`
const enormous = (name: string) => `${name}${'<\u202eZ\u0301\u0301\u0301'.repeat(4_000)}`

const renderers = {
  evidence: renderSampleEvidence,
  'evidence of Dempster’s rule': (name?: (text: string) => string) =>
    renderSampleEvidence(name, { method: 'dempster_shafer' }),
  dissent: renderSampleDissent,
  dissents: renderSampleDissents,
  site: renderSampleSite,
  audit: renderSampleAudit,
} as const

describe.each(Object.entries(renderers))('%s', (_, render) => {
  const page = render()

  test('is the same for the same facts, and reaches nothing', () => {
    expect(render()).toBe(page)
    const digest = createHash('sha256')
      .update(/<style>([\s\S]*?)<\/style>/.exec(page)?.[1] ?? '')
      .digest('base64')
    expect(page).toContain(
      `content="default-src 'none'; style-src 'sha256-${digest}'; base-uri 'none'; form-action 'none'"`,
    )
    expect(page).not.toMatch(/<script|<link|<img|<iframe| style="| on\w+="|url\(|@import/)
    for (const [, address] of page.matchAll(/(?:href|src|action)="([^"]*)"/g)) expect(address).toMatch(/^#[\w-]+$/)
  })

  test('begins with its verdict and figures, and each link of its list has a section', () => {
    expect(page.indexOf('class="verdict')).toBeLessThan(page.indexOf('<h2>'))
    expect(page.indexOf('class="figures"')).toBeLessThan(page.indexOf('<h2>'))
    for (const [, id] of page.matchAll(/href="#([^"]*)"/g)) expect(page).toContain(`id="${id}"`)
    const ids = [...page.matchAll(/ id="([^"]*)"/g)].map(([, id]) => id)
    expect(new Set(ids).size).toBe(ids.length)
    expect(removeScripts(page)).not.toMatch(/NaN|undefined|Infinity|\[object/)
  })

  test('has the mark-up of its templates alone, whatever the texts say', () => {
    const attacked = render(attack)
    expect(findForeignMarkup(attacked)).toBeUndefined()
    expect(attacked).toContain('&lt;svg/onload=alert(2)&gt;')
    expect(attacked.replaceAll('\n', '')).not.toMatch(misleading)
    expect(attacked.isWellFormed()).toBe(true)
  })

  test('has a bounded size for texts of any length', () => {
    const large = render(enormous)
    expect(findForeignMarkup(large)).toBeUndefined()
    expect(large.length).toBeLessThan(8_000_000)
  })
})

test('enormous results are sampled, and the page says how much is shown', () => {
  const evidence = renderSampleEvidence(undefined, { contributors: 1_000 })
  expect(evidence).toContain('500 of 1000 are listed')
  expect(evidence).toContain('Of 1000 opinions, the 20 lowest and the 20 highest are drawn.')
  const dissents = renderSampleDissents(undefined, 500)
  expect(dissents).toContain('The 500 newest of 700 are counted here.')
  expect(dissents.match(/<h2>Open dissent/g)).toHaveLength(12)
  const site = renderSampleSite(undefined, 900)
  expect(site).toContain('The first 24 of 900 peers are drawn.')
  expect(site).toContain('300 of 1800 are listed')
  for (const page of [evidence, dissents, site]) expect(page.length).toBeLessThan(2_000_000)
})

test('the verdict of a site names what is wrong, and is good where nothing is', () => {
  expect(renderSampleSite()).toMatch(/class="verdict poor"><p><strong>The site needs attention now\./)
  expect(renderSampleSite()).toContain('1 role does not run or is not ready')
  expect(renderSampleAudit()).toContain('consensus@alpha: record 88 is altered')
})
