// Validation of sinks in a profile.
import { expect, test } from 'vitest'
import { parseWithSchema } from '../../kernel/error/parsing.ts'
import { settings } from './settings.ts'

const filedropSink = (name: string) => ({ name, kind: 'filedrop', peer: 'bravo' })

test('sink names are unique, since pending emissions refer to them', () => {
  expect(parseWithSchema(settings.schema, { sinks: [filedropSink('one'), filedropSink('two')] }).success).toBe(true)
  expect(parseWithSchema(settings.schema, { sinks: [filedropSink('one'), filedropSink('one')] })).toEqual({
    success: false,
    errors: [{ path: 'sinks', message: 'sink names must be unique' }],
  })
})
