// Prints the version of this executable, for fault reports and for scripts that compare machines.
import manifest from '../../package.json' with { type: 'json' }
import { command } from '../program/command.ts'
import { flag } from '../program/params.ts'
import { printResult } from '../terminal/output.ts'

export const definition = command({
  words: 'version',
  summary: 'Print the version',
  options: { json: flag('Print one JSON document') },
  example: 'platform version --json',
  async run({ json }, terminal) {
    const { name, version } = manifest
    const build = { name, version, node: process.versions.node, arch: process.arch }
    printResult(terminal, json, build, () => `${name} ${version} (node ${build.node}, ${build.arch})`)
    return 0
  },
})
