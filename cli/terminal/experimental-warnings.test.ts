// Only the notes on experimental features are kept back.
import { EventEmitter } from 'node:events'
import { expect, test } from 'vitest'
import { hideExperimentalWarnings } from './experimental-warnings.ts'

test('warnings of experimental features are dropped, all others are passed on', () => {
  const warnings: string[] = []
  const process = new EventEmitter().on('warning', (warning: Error) => warnings.push(warning.name))
  hideExperimentalWarnings(process)
  for (const name of ['ExperimentalWarning', 'DeprecationWarning', 'MaxListenersExceededWarning']) {
    process.emit('warning', Object.assign(new Error('x'), { name }))
  }
  expect(warnings).toEqual(['DeprecationWarning', 'MaxListenersExceededWarning'])
})
