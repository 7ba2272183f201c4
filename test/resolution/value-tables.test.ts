// Records and entities of a run as tables with the values of the data: in every format, of any size, from data that did not change.
import { appendFileSync, existsSync, readdirSync, readFileSync, utimesSync, writeFileSync } from 'node:fs'
import path from 'node:path'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { readDataFile } from '../../daemon/offline/resolve/data-file.ts'
import { readLens } from '../../daemon/offline/resolve/lens/lens-file.ts'
import { FileVersions } from '../../daemon/offline/resolve/reading/file-versions.ts'
import { type ResolveFilesOptions, resolveFiles } from '../../daemon/offline/resolve/resolve-files.ts'
import { createScratchFolder, runCommand } from '../support/command/run-command.ts'
import { encodeParquet } from '../support/data/encode-blocks.ts'
import { encodeXlsx } from '../support/data/write-xlsx.ts'
import { generatePeople } from '../support/resolution/generate-people.ts'

const { dir, remove } = createScratchFolder('value-tables')
const at = (name: string) => path.join(dir, name)
const persons = readLens('persons')
const people = generatePeople(300, 3)
/** Beside the columns of the lens: one that needs quotation marks, one with the name of a column of the result. */
const extended = addColumns(people.csv)

beforeAll(() => {
  writeFileSync(at('people.csv'), extended)
  writeFileSync(
    at('few.csv'),
    'id,surname,given_name,date_of_birth,city\nx1,Lee,Ann,1980-01-02,Örebro\n,Void,,,\nx3,Ray,Bo,1970-03-04,Ås\n',
  )
})
afterAll(remove)

function addColumns(csv: string): string {
  const [head = '', ...lines] = csv.trimEnd().split('\n')
  return [`${head},note,cluster`, ...lines.map((line, row) => `${line},"a, ""b"" ${row}",c${row}`), ''].join('\n')
}

const run = (out: string, more: Partial<ResolveFilesOptions> = {}) =>
  resolveFiles({ lens: persons, files: [at('people.csv')], out: at(out), seed: 0, ...more }, () => undefined)

/** Rows of a table by column; an absent value is undefined. */
async function readRows(file: string): Promise<Record<string, string | undefined>[]> {
  const { columns, rows } = await readDataFile(file, () => true)
  const decoder = new TextDecoder()
  return Array.from({ length: rows }, (_, row) =>
    Object.fromEntries(
      columns.map(({ name, codes, values }) => {
        const code = codes[row] ?? -1
        return [name, code < 0 ? undefined : decoder.decode(values.bytesOf(code))]
      }),
    ),
  )
}

describe('records of a former run', () => {
  const phones = ['+49 30 1234', '+1 (555) 123-4567', '+1-2', '=cmd|"/c calc"!A1', "'=1", "'tis", '+49 30 1234']
  const cells = phones.map((text) => ({ text, cell: /^(\+1-2|=|'=)/.test(text) ? `'${text}` : text }))

  beforeAll(async () => {
    const lines = phones.map((phone, row) =>
      JSON.stringify({ id: row === 2 ? '+1-2' : `x${row}`, surname: 'Lee', phone }),
    )
    writeFileSync(at('phones.jsonl'), lines.join('\n'))
    await run('phones', { files: [at('phones.jsonl')], acceptsPoor: true })
  })

  test('have telephone numbers as they are, and no formula', async () => {
    const rows = await readRows(at('phones/records.csv'))
    expect(rows.map(({ phone }) => phone)).toEqual(cells.map(({ cell }) => cell))
  })

  test('give the original values when they are resolved again', async () => {
    await run('again', { files: [at('phones/records.csv')], format: 'jsonl', acceptsPoor: true })
    const rows = await readRows(at('again/records.jsonl'))
    expect(rows.map(({ phone }) => phone)).toEqual(phones)
    expect(rows.map(({ id }) => id)).toContain('+1-2')
    await run('csv again', { files: [at('phones/records.csv')], acceptsPoor: true })
    const written = await readRows(at('csv again/records.csv'))
    expect(written.map(({ phone }) => phone)).toEqual(cells.map(({ cell }) => cell))
  })
})

describe('records', () => {
  test('have their cluster and all columns of the data, in every format', async () => {
    const data = await readRows(at('people.csv'))
    for (const format of ['csv', 'jsonl', 'parquet'] as const) {
      await run(format, { format })
      const clusters = await readRows(at(`${format}/clusters.${format}`))
      const expected = clusters.map(({ source, id, cluster }, row) => {
        const { cluster: own, ...values } = data[row] ?? {}
        return { source, id, cluster, ...values, cluster_: own }
      })
      expect(await readRows(at(`${format}/records.${format}`))).toEqual(expected)
    }
  })

  test('of several files have the columns of all; a row that was left out is in no table', async () => {
    const reading = { skipsBadRows: true }
    await run('two', { files: [at('people.csv'), at('few.csv')], reading })
    const rows = await readRows(at('two/records.csv'))
    expect(rows).toHaveLength(people.truth.length + 2)
    expect(rows.slice(-2)).toEqual([
      expect.objectContaining({ source: 'few.csv', id: 'x1', surname: 'Lee', city: 'Örebro' }),
      expect.objectContaining({ source: 'few.csv', id: 'x3', surname: 'Ray', city: 'Ås' }),
    ])
    expect(rows.at(-1)?.note).toBeUndefined()
  })

  test('are those of the run, whatever the columns have that the lens does not read', async () => {
    const people = ['Szabo,Ann,Lund', 'Lee,Bo,Oslo', 'Ray,Cy,Rom', 'Kim,Di,Ghent']
    const lines = ['1', 'x'.repeat(5_000), '2', '1', '4'].map((id, row) => `${id},${people[row % 4]},${row}`)
    writeFileSync(at('ids.csv'), ['id,surname,given_name,city,row', ...lines, ''].join('\n'))
    await run('of ids', { files: [at('ids.csv')], reading: { skipsBadRows: true } })
    const rows = await readRows(at('of ids/records.csv'))
    // Line 3 has a long id, line 5 one that was there before.
    expect(rows.map(({ id, row }) => [id, row])).toEqual([
      ['1', '0'],
      ['2', '2'],
      ['4', '4'],
    ])
    const records = people.map((values, row) => ({ id: `${row}`, surname: values.split(',')[0], more: { row } }))
    writeFileSync(at('nested.jsonl'), records.map((each) => `${JSON.stringify(each)}\n`).join(''))
    await run('of json', { files: [at('nested.jsonl')] })
    expect((await readRows(at('of json/records.csv'))).map(({ more }) => more)).toEqual(
      records.map(({ more }) => JSON.stringify(more)),
    )
    const cells = records.map(
      ({ id, surname }) => `<row><c><v>${id}</v></c><c t="str"><v>${surname}</v></c><c><f>1+1</f></c></row>`,
    )
    const head = ['id', 'surname', 'sum'].map((name) => `<c t="str"><v>${name}</v></c>`).join('')
    const sheet = `<worksheet><sheetData><row>${head}</row>${cells.join('')}</sheetData></worksheet>`
    writeFileSync(at('sums.xlsx'), encodeXlsx({ sheets: { All: sheet } }))
    await run('of sums', { files: [at('sums.xlsx')] })
    expect((await readRows(at('of sums/records.csv'))).map(({ id, sum }) => [id, sum])).toEqual(
      records.map(({ id }) => [id, undefined]),
    )
  })

  test('that fill many chunks of the writer are all there, in order', async () => {
    const note = 'n'.repeat(1_000)
    const lines = Array.from({ length: 4_000 }, (_, row) => `${row},name${row},${note}`)
    writeFileSync(at('long.csv'), ['id,surname,note', ...lines, ''].join('\n'))
    await run('long', { files: [at('long.csv')] })
    const text = readFileSync(at('long/records.csv'), 'utf8')
    expect(text.split('\n')[0]).toBe('source,id,cluster,surname,note')
    expect(
      text
        .split('\n')
        .slice(1, -1)
        .map((line) => line.split(',')[1]),
    ).toEqual(lines.map((_, row) => String(row)))
  })
})

describe('entities', () => {
  test('have the golden record by the rule of each field, as the data writes it, in the order of clusters', async () => {
    writeFileSync(
      at('crm.csv'),
      'id,surname,given_name,date_of_birth,city\n1,SZABO,Ann,1980-01-02,Lund\n2,Lee,Bo,1971-05-06,Ås\n',
    )
    writeFileSync(
      at('web.csv'),
      'id,surname,given_name,date_of_birth,city\n1,Szabo,Annabel,1980-01-02,Lund\n7,Ray,Cy,1960-07-08,\n',
    )
    writeFileSync(at('same.csv'), 'id_l,source_l,id_r,source_r,decision\n1,crm.csv,1,web.csv,confirm\n')
    const fields = persons.fields.map((field) =>
      field.name === 'given_name' ? { ...field, survivorship: 'longest' as const } : field,
    )
    const lens = { ...persons, fields, source_order: ['web.csv', 'crm.csv'] }
    await run('golden', { lens, files: [at('crm.csv'), at('web.csv')], decisions: at('same.csv') })
    const rows = await readRows(at('golden/entities.csv'))
    expect(
      rows.map(({ cluster, records, sources, record_ids, surname, given_name, city }) => [
        cluster,
        records,
        sources,
        record_ids,
        surname,
        given_name,
        city,
      ]),
    ).toEqual([
      ['1', '2', '2', 'crm.csv/1; web.csv/1', 'Szabo', 'Annabel', 'Lund'],
      ['2', '1', '1', 'crm.csv/2', 'Lee', 'Bo', 'Ås'],
      ['3', '1', '1', 'web.csv/7', 'Ray', 'Cy', undefined],
    ])
  })

  test('list the first hundred records of a large one, and the first thirty thousand characters', async () => {
    for (const [name, ids] of [
      ['many.csv', Array.from({ length: 150 }, (_, row) => `n${row}`)],
      ['long-ids.csv', Array.from({ length: 20 }, (_, row) => `${'x'.repeat(4_000)}${row}`)],
    ] as const) {
      const rows = ids.map((id) => `${id},Lee,Ann,1980-01-02,Lund`)
      writeFileSync(at(name), ['id,surname,given_name,date_of_birth,city', ...rows, ''].join('\n'))
      const decided = ids.slice(1).map((id) => `${ids[0]},${id},confirm`)
      writeFileSync(at(`${name}-same.csv`), ['id_l,id_r,decision', ...decided, ''].join('\n'))
      await run(`listed ${name}`, { files: [at(name)], decisions: at(`${name}-same.csv`) })
      const [row] = await readRows(at(`listed ${name}/entities.csv`))
      const listed = (row?.record_ids ?? '').split('; ')
      expect(row?.records).toBe(String(ids.length))
      const count = name === 'many.csv' ? 100 : 7
      expect(listed).toEqual([...ids.slice(0, count).map((id) => `${name}/${id}`), '…'])
    }
  })

  test('have the ids of a registry, and each record is counted once', async () => {
    await run('registered', { registry: at('entities.jsonl'), acceptsPoor: true })
    const entities = await readRows(at('registered/entities.csv'))
    const records = await readRows(at('registered/records.csv'))
    expect(entities.reduce((sum, row) => sum + Number(row.records), 0)).toBe(records.length)
    const idOf = new Map(entities.map(({ cluster, entity }) => [cluster, entity]))
    expect(records.every(({ cluster, entity }) => entity !== undefined && idOf.get(cluster) === entity)).toBe(true)
  })
})

test('with --ids-only no table has values', async () => {
  const words = ['resolve', 'run', '--lens', 'persons', '--data', at('people.csv'), '--ids-only', '--out', at('ids')]
  expect((await runCommand(words)).exit).toBe(0)
  expect(readdirSync(at('ids')).sort()).toEqual(['clusters.csv', 'inputs.json', 'model.json', 'pairs.csv', 'run.json'])
})

test('a column that the lens does not read, and the results cannot have, ends a run before its work, and no run of ids', async () => {
  const lines = people.csv.trimEnd().split('\n').slice(1)
  const rows = lines.map((line, at) => [...line.split(',').slice(0, 3), `p${at}`])
  const names = ['id', 'given_name', 'surname', 'photo']
  writeFileSync(at('photos.parquet'), encodeParquet(names, [...rows, ['last', 'Ann', 'Szabo', 'x'.repeat(1_100_000)]]))
  const phases = new Set<string>()
  const options = { lens: persons, files: [at('photos.parquet')], seed: 0 }
  const onProgress = ({ phase }: { phase: string }) => void phases.add(phase)
  await expect(resolveFiles({ ...options, out: at('photos') }, onProgress)).rejects.toMatchObject({
    exit: 1,
    message: expect.stringContaining(`column photo: record ${rows.length + 1} has more than 1048576 bytes`),
    remedy: expect.stringContaining('--ids-only'),
  })
  expect([...phases]).toEqual(['read'])
  const { records } = await resolveFiles({ ...options, out: at('photo ids'), idsOnly: true }, onProgress)
  expect(records).toBe(rows.length + 1)
})

test('a file that changes between two readings of one command ends it, also where its times are set back', async () => {
  writeFileSync(at('moving.csv'), people.csv)
  const then = new Date('2026-01-01T00:00:00Z')
  utimesSync(at('moving.csv'), then, then)
  const phases: string[] = []
  const running = resolveFiles(
    { lens: persons, files: [at('moving.csv')], out: at('moving'), seed: 0 },
    ({ phase }) => {
      if (phase === 'compare' && !phases.includes(phase)) {
        writeFileSync(at('moving.csv'), people.csv.replace('r0', 'r9'))
        utimesSync(at('moving.csv'), then, then)
      }
      phases.push(phase)
    },
  )
  await expect(running).rejects.toMatchObject({
    exit: 1,
    message: expect.stringContaining('was changed while it was read'),
  })
  expect(existsSync(at('moving'))).toBe(false)
  const versions = new FileVersions()
  await readDataFile(at('few.csv'), () => true, { versions }).catch(() => undefined)
  appendFileSync(at('few.csv'), 'x9,Kim,Di,1990-01-01,\n')
  await expect(readDataFile(at('few.csv'), () => true, { versions })).rejects.toThrow('was changed while it was read')
})
