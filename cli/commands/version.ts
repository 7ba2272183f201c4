// Prints the version of this executable, for fault reports and for scripts that compare machines.
import { product } from '../../adapters/platform/product/product.ts'
import { command } from '../program/command.ts'
import { flag } from '../program/params.ts'
import { printResult } from '../terminal/output.ts'

export const definition = command({
  words: 'version',
  summary: 'Print the version',
  options: { json: flag('Print one JSON document') },
  example: 'platform version --json',
  async run({ json }, terminal) {
    const { name, version } = product
    const build = { name, version, node: process.versions.node, arch: process.arch }
    printResult(terminal, json, build, () => `${name} ${version} (node ${build.node}, ${build.arch})`)
    return 0
  },
})
