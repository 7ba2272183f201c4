// The roles chosen for a new site, each with a section, in the text of any shipped profile.
import { describe, expect, test } from 'vitest'
import { parseYaml } from '../../../adapters/host/yaml/yaml-document.ts'
import { roles } from '../../roles.ts'
import { withChosenRoles } from './chosen-roles.ts'
import { listTemplates, readTemplate } from './profile-template.ts'

type Sections = Readonly<Record<string, { port?: number; metrics_listen?: string; roles?: readonly string[] }>>

function parse(text: string): Sections {
  const result = parseYaml(text)
  if (!('value' in result)) throw new Error(result.faults.join())
  return result.value as Sections
}

const everyName = roles.map(({ name }) => name)

describe.each(listTemplates())('in %s', (name) => {
  const text = readTemplate(name) ?? ''

  test('every role gets a section, and sections that exist stay', () => {
    const before = parse(text)
    const after = parse(withChosenRoles(text, everyName))
    expect(after.platform?.roles).toEqual(everyName)
    expect(Object.keys(after)).toEqual(expect.arrayContaining(everyName))
    for (const [section, values] of Object.entries(before)) {
      if (section !== 'platform') expect(after[section]).toEqual(values)
    }
  })

  test('new sections have internal listeners exactly where others have one', () => {
    const isInternal = text.includes('  metrics_listen:')
    const { hub } = parse(withChosenRoles(text, ['site', 'hub']))
    expect(hub?.metrics_listen).toBe(isInternal ? '127.0.0.1:9410' : undefined)
  })

  test('no two listeners share a port', () => {
    const sections = Object.values(parse(withChosenRoles(text, everyName)))
    const internal = sections.flatMap(({ metrics_listen }) => metrics_listen?.split(':').at(-1) ?? [])
    const used = [...sections.flatMap(({ port }) => port || []), ...internal.map(Number).filter((port) => port > 0)]
    expect(new Set(used).size).toBe(used.length)
  })
})

test('a role without another that it needs is refused with the whole option', () => {
  expect(() => withChosenRoles('platform:\n', ['resolution'])).toThrow('the role "resolution" needs site')
})
