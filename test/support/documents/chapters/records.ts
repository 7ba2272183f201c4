// Chapters of the operator guide that resolve records, with files and on the service.
import { mkdirSync, writeFileSync } from 'node:fs'
import { expect } from 'vitest'
import { at, type CoveredChapters, deliverUntil, edit, type Machine, restart, sample, writePeople } from '../chapter.ts'

/** Both sites read data files from a folder; a restart makes it known. */
async function nameDataFolders(machine: Machine): Promise<void> {
  for (const [shell, tenant] of [
    ['alpha', 'acme'],
    ['bravo', 'bravo'],
  ] as const) {
    const records = at(machine, shell, 'records')
    mkdirSync(`${records}/${tenant}`, { recursive: true })
    writeFileSync(`${records}/${tenant}/members.csv`, sample(shell))
    edit(at(machine, shell, 'site/profile.yaml'), [/^resolution:\n/m, `resolution:\n  data_folder: ${records}\n`])
  }
  writeFileSync(at(machine, 'alpha/records/acme/people-east.csv'), sample('alpha'))
  writeFileSync(at(machine, 'alpha/records/acme/people-west.csv'), sample('bravo'))
  await restart(machine, 'alpha')
  await restart(machine, 'bravo')
}

/** Carries messages until bravo lists the proposal. */
async function deliverProposal(machine: Machine): Promise<void> {
  await deliverUntil(machine, ['alpha', 'bravo'], async () => {
    const { output } = await machine.shells.run('bravo', 'platform resolve exchange list')
    expect(output).toContain('xchg_')
  })
}

const person = {
  given_name: 'Lorenz',
  surname: 'Szabo',
  date_of_birth: '1994-06-03',
  street: '143 Foundry Lane',
  city: 'Eastmere',
  postcode: '73005',
}

const sales = 'id,code,amount,paid_on\n1,0007,12.5,2024-02-29\n2,0007,3,2024-03-01\n3,0042,n/a,2024-03-02\n4,,8,\n'
const salesColumns = '[{"name": "amount", "type": "double"}, {"name": "id", "type": "int64", "required": true}]\n'

export const recordChapters: CoveredChapters = {
  'Land a file': {
    before(machine) {
      mkdirSync(at(machine, 'plain'), { recursive: true })
      writeFileSync(at(machine, 'plain/sales.csv'), sales)
      writeFileSync(at(machine, 'plain/columns.json'), salesColumns)
    },
  },
  'Resolve records': {
    before(machine) {
      mkdirSync(at(machine, 'plain'), { recursive: true })
      writePeople(at(machine, 'plain/people.csv'))
      for (const name of ['alpha', 'bravo', 'truth']) writeFileSync(at(machine, 'plain', `${name}.csv`), sample(name))
      // As a spreadsheet saves it in German.
      const german = `${sample('alpha').replaceAll(',', ';')}K1;Jürgen;Groß;;;;;\n`
      writeFileSync(at(machine, 'plain/kunden.csv'), Buffer.from(german, 'latin1'))
    },
  },
  'Measure a result against known truth': {},
  'Look at a result': {},
  'Keep decisions and entity ids between runs': {
    before: (machine) => writeFileSync(at(machine, 'plain/decided.csv'), 'id_l,id_r,decision\n'),
  },
  'Label a few pairs': {
    before: (machine) => writeFileSync(at(machine, 'plain/labels.csv'), 'id_l,id_r,match\nA001,B001,0\nA001,A002,no\n'),
  },
  'A lens of your own': { before: (machine) => writePeople(at(machine, 'plain/customers.csv')) },
  'On the service': {
    before: nameDataFolders,
    steps: [['platform resolve consult', { picked: /proposed +\S+\n(match_\w+)/ }]],
  },
  'With another site': {
    steps: [['platform resolve exchange agree', { prepare: deliverProposal }]],
  },
  'Look up one record': {
    before: (machine) => writeFileSync(at(machine, 'alpha/record.json'), JSON.stringify(person)),
  },
  'Add records without a run': {
    before(machine) {
      const ada = { id: 'N1', given_name: 'Ada', surname: 'Novak', date_of_birth: '1971-01-02', city: 'Eastmere' }
      writeFileSync(at(machine, 'alpha/new-people.json'), JSON.stringify([ada]))
      const table = [Object.keys(ada), Object.values(ada)].map((row) => row.join(',')).join('\n')
      writeFileSync(at(machine, 'plain/new-people.csv'), `${table}\n`)
    },
  },
  'Follow changes of entities': {},
  'Export results': {},
  'Forget records and delete entities': {
    steps: [['platform resolve entity delete', { picked: /^N1 +new +(ent_\w+)/m }]],
  },
  'A site for lookups only': {
    async before(machine) {
      edit(at(machine, 'bravo/site/profile.yaml'), [
        /^resolution:\n/m,
        'resolution:\n  matching_pattern: lookup_only\n',
      ])
      await restart(machine, 'bravo')
    },
  },
  Signals: {},
}
