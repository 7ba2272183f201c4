// Only the notes on experimental features are kept back.
import { EventEmitter } from 'node:events'
import { expect, test } from 'vitest'
import { hideExperimentalWarnings } from './experimental-warnings.ts'

test('an experimental feature is not told of, anything else is', () => {
  const told: string[] = []
  const process = new EventEmitter().on('warning', (warning: Error) => told.push(warning.name))
  hideExperimentalWarnings(process)
  for (const name of ['ExperimentalWarning', 'DeprecationWarning', 'MaxListenersExceededWarning']) {
    process.emit('warning', Object.assign(new Error('x'), { name }))
  }
  expect(told).toEqual(['DeprecationWarning', 'MaxListenersExceededWarning'])
})
