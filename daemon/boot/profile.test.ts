// The sections of a profile come from the outlines of all roles.
import { expect, test } from 'vitest'
import * as z from 'zod'
import type { RoleOutline } from '../kernel/role/role.ts'
import { settingsBlock } from '../kernel/settings/settings.ts'
import { listSettingsBlocks } from './profile.ts'

const declareSection = () => settingsBlock('guide', { limit: z.int().default(1).meta({ doc: 'A limit.' }) })
const withSections = (...settings: RoleOutline['settings'][]) =>
  settings.map((each) => ({ settings: each }) as RoleOutline)

test('a section that two roles share is listed once', () => {
  const shared = declareSection()
  const names = listSettingsBlocks(withSections([shared], [shared])).map(({ name }) => name)
  expect(names.filter((name) => name === 'guide')).toHaveLength(1)
})

test('two sections of one name are refused: one of them would be checked by the schema of the other', () => {
  expect(() => listSettingsBlocks(withSections([declareSection()], [declareSection()]))).toThrow(
    'two sections of the profile are named "guide"',
  )
})
