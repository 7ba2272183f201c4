// What a profile may say of sinks.
import { expect, test } from 'vitest'
import { parseWithSchema } from '../../kernel/error/parsing.ts'
import { settings } from './settings.ts'

const filedropSink = (name: string) => ({ name, kind: 'filedrop', peer: 'bravo' })

test('each sink has a name of its own, since what is owed to it is known by that name', () => {
  expect(parseWithSchema(settings.schema, { sinks: [filedropSink('one'), filedropSink('two')] }).success).toBe(true)
  expect(parseWithSchema(settings.schema, { sinks: [filedropSink('one'), filedropSink('one')] })).toEqual({
    success: false,
    errors: [{ path: 'sinks', message: 'sink names must be unique' }],
  })
})
