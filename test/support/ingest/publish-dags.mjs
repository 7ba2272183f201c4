// A process that proposes and publishes DAGs in a local repository until it is killed, and prints each commit once it has it.
import path from 'node:path'
import { LocalRepository } from '../../../adapters/dag-repository/local/local-repository.ts'
import { takeLock } from '../../../adapters/store/sqlite/lock.ts'

const [folder = '', writer = ''] = process.argv.slice(2)
const repository = new LocalRepository({
  gitdir: path.join(folder, 'dags.git'),
  layout: {
    branch: 'main',
    dag_path: 'dags',
    test_path: 'tests',
    pending_path: 'pending',
    catalog_path: 'catalog.json',
  },
  takeLock: () => takeLock(path.join(folder, 'dags.lock'), folder),
  check: async () => ({ state: 'passed' }),
})

for (let at = 0; ; at++) {
  const file = { uid: `pl_${writer}_${at}`, name: `daily.pl_${writer}_${at}.json` }
  const note = { summary: `Deploy ${file.uid}`, author: writer, now_ms: at }
  const commit = await repository.propose({ ...file, text: `{"at": ${at}}\n` }, note)
  const published = await repository.publish({ ...file, commit }, 'catalog\n', note)
  process.stdout.write(`${published} ${file.name}\n`)
}
