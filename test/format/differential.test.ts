// Product and Python script over altered documents: every disagreement stands in the list with its reason.
import * as fs from 'node:fs'
import { tmpdir } from 'node:os'
import path from 'node:path'
import { afterAll, beforeAll, expect } from 'vitest'
import { type AlteredDocument, alterVectors } from './altered-documents.ts'
import { disagreements } from './disagreements.ts'
import { makeVectors } from './make-vectors.ts'
import { type DocumentVerdict, judgeByProduct } from './product-verdicts.ts'
import { judgeByPython, withPython } from './python-verifier.ts'

let dir: string
let altered: AlteredDocument[]
beforeAll(async () => {
  dir = fs.mkdtempSync(path.join(tmpdir(), 'format-'))
  const vectors = path.join(dir, 'vectors')
  const made = await makeVectors(vectors)
  const sound = made.filter(({ reason }) => reason === undefined)
  altered = await alterVectors(vectors, sound, path.join(dir, 'altered'))
})
afterAll(() => fs.rmSync(dir, { recursive: true, force: true }))

/** Where the product names no class of reasons, the outcome alone is compared. */
function isSame(product: DocumentVerdict, python: DocumentVerdict): boolean {
  return product.holds === python.holds && (product.reason === undefined || product.reason === python.reason)
}

withPython('both verifiers judge more than a thousand altered documents alike', async () => {
  const byPython = await judgeByPython(altered)
  const differing: string[] = []
  const outcomes = { both_hold: 0, both_refuse: 0 }
  for (const [index, document] of altered.entries()) {
    const script = byPython[index] ?? { holds: false }
    const product = await judgeByProduct(document)
    if (!isSame(product, script))
      differing.push(
        `${document.name} (product: ${product.reason ?? product.holds}, script: ${script.reason ?? script.holds})`,
      )
    else outcomes[product.holds ? 'both_hold' : 'both_refuse'] += 1
  }
  expect(altered.length).toBeGreaterThan(1_000)
  // Alterations that change nothing of the meaning must be among them, or both could refuse all alike.
  expect(outcomes.both_hold).toBeGreaterThan(200)
  expect(outcomes.both_refuse).toBeGreaterThan(800)
  const explained = disagreements.map(({ document }) => document)
  expect(
    differing.filter((name) => !explained.includes(name)),
    'disagreements that nothing explains',
  ).toEqual([])
  expect(
    explained.filter((name) => !differing.includes(name)),
    'explained disagreements that are gone',
  ).toEqual([])
})
