// What a profile may say of sinks.
import { expect, test } from 'vitest'
import { parseBy } from '../../kernel/parsing.ts'
import { settings } from './settings.ts'

const filedrop = (name: string) => ({ name, kind: 'filedrop', peer: 'bravo' })

test('each sink has a name of its own, since what is owed to it is known by that name', () => {
  expect(parseBy(settings.schema, { sinks: [filedrop('one'), filedrop('two')] }).success).toBe(true)
  expect(parseBy(settings.schema, { sinks: [filedrop('one'), filedrop('one')] })).toEqual({
    success: false,
    errors: [{ path: 'sinks', message: 'no two may have the same name' }],
  })
})
