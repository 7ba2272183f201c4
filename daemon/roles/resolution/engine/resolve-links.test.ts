// A lens with learnt weights links texts as the run that learnt them.
import { expect, test } from 'vitest'
import { seededRandom } from '../../../../test/support/random/seeded-random.ts'
import { lens as schema } from '../lens/model.ts'
import { buildTextColumn } from './records/collect-columns.ts'
import { buildRecords } from './records/records.ts'
import { resolveRecords } from './resolve.ts'
import { trainWeights } from './train.ts'

const ignore = () => undefined
const by = seededRandom(4)
const parts =
  'ba be bo da de di fa fe ka ke ko la le li lo ma me mi mo na ne ni no ra re ri ro sa se ta te to va vi'.split(' ')
const drawWord = (length: number) => Array.from({ length }, () => by.pick(parts)).join('')

/** Works of two catalogues, half of them in both; each has remarks in its own words, which say nothing of the work. */
function drawCatalogues(works: number) {
  const titles = Array.from({ length: works }, () => [drawWord(3), drawWord(2), drawWord(3)].join(' '))
  return [0, 1].map((source) => {
    const words = Array.from({ length: 40 }, () => drawWord(3))
    const chosen = titles.filter((_, at) => at % 3 !== source)
    const columns = [
      buildTextColumn(
        'id',
        chosen.map((_, at) => `${source}-${at}`),
      ),
      buildTextColumn('title', chosen),
      buildTextColumn(
        'remarks',
        chosen.map(() => Array.from({ length: 8 }, () => by.pick(words)).join(' ')),
      ),
    ]
    return { name: `${source}.csv`, rows: chosen.length, names: ['id', 'title', 'remarks'], columns }
  })
}

test('a text that matches do not share stays out of the likeness with the weights that were learnt without it', () => {
  const fields = ['title', 'remarks'].map((name) => ({ name, type: 'text' }))
  const lens = schema.parse({ lens: 'own', version: '1.0.0', entity_type: 'work', told_by: 'texts', fields })
  const records = buildRecords(lens, drawCatalogues(300))
  const found = resolveRecords(lens, records, 1, ignore)
  expect(found.scale).toBe('likeness')
  const { fields: learnt, prior } = trainWeights(lens, records, 1, undefined, ignore)
  const weighted = lens.fields.map((field, at) => ({ ...field, m: [...learnt[at]!.m], u: [...learnt[at]!.u] }))
  const again = resolveRecords({ ...lens, prior, fields: weighted }, records, 1, ignore)
  expect(again.compared.length).toBe(found.compared.length)
  expect(again.clusters).toEqual(found.clusters)
})
