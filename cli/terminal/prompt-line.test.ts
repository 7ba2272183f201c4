// A prompt is answered by a line, and by nothing where the input ends; an interrupt is an error.
import { PassThrough } from 'node:stream'
import { expect, test } from 'vitest'
import { promptLine } from './prompt-line.ts'

async function promptWith(act: (input: PassThrough) => void): Promise<string | undefined> {
  const [input, output] = [new PassThrough(), new PassThrough()]
  const answer = promptLine({ input, output, terminal: true }, 'Name: ')
  act(input)
  return await answer
}

test('a line is the answer', async () => {
  expect(await promptWith((input) => input.write('Ann\r'))).toBe('Ann')
  expect(await promptWith((input) => input.write('\r'))).toBe('')
})

test('Ctrl-D and the end of the input are no answer', async () => {
  expect(await promptWith((input) => input.write('\u0004'))).toBeUndefined()
  expect(await promptWith((input) => input.end())).toBeUndefined()
})

test('Ctrl-C is an error', async () => {
  await expect(promptWith((input) => input.write('\u0003'))).rejects.toThrow('interrupted at a prompt')
})
