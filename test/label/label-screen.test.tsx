// The screen for labels: shows hostile records safely, and keeps each answer before it shows the next pair.
import { EventEmitter } from 'node:events'
import { PassThrough } from 'node:stream'
import { stripVTControlCharacters } from 'node:util'
import { render } from 'ink'
import { createElement } from 'react'
import { afterEach, expect, test } from 'vitest'
import type { LabelAnswer, LabelDialogue, LabelQuestion } from '../../cli/label/label-dialogue.ts'
import { LabelScreen } from '../../cli/label/label-screen.tsx'
import { forgedLine, hostileText, misleading } from '../support/text/hostile-text.ts'

/** Holds the latest whole frame: Ink writes nothing else with `debug`. */
class FrameOutput extends EventEmitter {
  readonly isTTY = true
  readonly frames: string[] = []
  readonly columns: number
  readonly rows: number
  constructor(columns: number, rows: number) {
    super()
    this.columns = columns
    this.rows = rows
  }
  write = (frame: string, written?: unknown) => {
    if (frame !== '') this.frames.push(frame)
    if (typeof written === 'function') written()
    return true
  }
}

function createInput() {
  const methods = { isTTY: true, setRawMode: () => undefined, ref: () => undefined, unref: () => undefined }
  return Object.assign(new PassThrough(), methods)
}

const question = (number: number, value = `Canon EOS ${number}`): LabelQuestion => ({
  left: { source: 'a.csv', id: `l${number}` },
  right: { source: 'b.csv', id: `r${number}` },
  score: `${number}.0 bits`,
  fields: [
    { name: 'title', left: value, right: `${value} black`, level: 'alike' },
    { name: 'price', left: undefined, right: '12.00', level: 'different' },
    { name: 'brand', left: 'Canon', right: 'Canon', level: 'equal' },
  ],
})

/** A dialogue of five questions that keeps answers in memory. */
function createDialogue(ask = question): LabelDialogue & { readonly answers: LabelAnswer[] } {
  const answers: LabelAnswer[] = []
  const count = (answer: LabelAnswer) => answers.filter((each) => each === answer).length
  return {
    answers,
    current: () => (answers.length < 5 ? ask(answers.length + 1) : undefined),
    answer: (answer) => void answers.push(answer),
    undo: () => answers.pop() !== undefined,
    progress: () => ({ matches: count('match'), non_matches: count('no_match'), unsure: count('unsure'), wanted: 5 }),
  }
}

let unmount: (() => void) | undefined
afterEach(() => unmount?.())

function openScreen(dialogue: LabelDialogue, columns = 80, rows = 24) {
  const [stdout, stdin] = [new FrameOutput(columns, rows), createInput()]
  const screen = render(createElement(LabelScreen, { dialogue, title: 'label', hasColour: false }), {
    ...{ stdout: stdout as never, stdin: stdin as never, stderr: stdout as never },
    ...{ debug: true, exitOnCtrlC: false, patchConsole: false, interactive: true },
  })
  unmount = screen.unmount
  const text = () => stripVTControlCharacters(stdout.frames.at(-1) ?? '')
  const shows = async (pattern: RegExp) => await expect.poll(text).toMatch(pattern)
  return { text, shows, press: (keys: string) => void stdin.write(keys), ended: screen.waitUntilExit() }
}

test('shows a pair side by side with its score, its count and the keys', async () => {
  const { shows, text } = openScreen(createDialogue())
  await shows(/0 of 5: 0 y, 0 n, 0 unsure {2}score 1.0 bits/)
  expect(text()).toMatch(/record +l1 +r1/)
  expect(text()).toMatch(/title +~ Canon EOS 1 +Canon EOS 1 black/)
  expect(text()).toMatch(/price +12.00/)
  expect(text()).toMatch(/brand +=/)
  expect(text()).toContain('y match  n no match  s unsure  z undo  q quit')
})

test('keys that arrive in one burst answer one pair each; z takes back, ? explains, q quits', async () => {
  const dialogue = createDialogue()
  const { shows, press, ended } = openScreen(dialogue)
  await shows(/1.0 bits/)
  press('ynu')
  await shows(/3 of 5: 1 y, 1 n, 1 unsure {2}score 4.0 bits/)
  expect(dialogue.answers).toEqual(['match', 'no_match', 'unsure'])
  press('z')
  await shows(/took the last answer back/)
  expect(dialogue.answers).toEqual(['match', 'no_match'])
  press('?')
  await shows(/the two records are one/)
  press('y')
  await shows(/score 3.0 bits/)
  expect(dialogue.answers).toHaveLength(2)
  press('yyyyy')
  await shows(/No further pair/)
  expect(dialogue.answers).toHaveLength(5)
  press('q')
  await ended
})

test('an answer that cannot be kept ends the screen with the reason', async () => {
  const dialogue = {
    ...createDialogue(),
    answer: () => {
      throw new Error('the disk is full')
    },
  }
  const { shows, press, ended } = openScreen(dialogue)
  await shows(/1.0 bits/)
  press('y')
  await expect(ended).rejects.toThrow('the disk is full')
})

test.each([
  [80, 24],
  [40, 10],
  [20, 6],
])('hostile values of any length fit into %i columns and %i lines, and forge nothing', async (columns, rows) => {
  const { shows, text } = openScreen(
    createDialogue((number) => question(number, hostileText.repeat(9))),
    columns,
    rows,
  )
  await shows(/label/)
  const lines = text().split('\n')
  expect(lines.length).toBeLessThanOrEqual(rows)
  expect(text().replaceAll('\n', '')).not.toMatch(misleading)
  expect(text()).not.toMatch(forgedLine)
})
