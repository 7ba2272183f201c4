// Loaded before pkg: adds options to the configuration of the executable that pkg does not support.
import fsp from 'node:fs/promises'
import path from 'node:path'

const execArgv = [
  // Half of the young generation in MB, which grows under load alone: what waits a second to be stored is dead before it is
  // copied twice. With 4 the gateway observes a fifth fewer calls (docs/measurements.md).
  '--max-semi-space-size=32',
  // The signal would open the inspector, which asks nobody for a password, to every user of the machine.
  '--disable-sigusr1',
]
/** Takes no further options of Node, neither from NODE_OPTIONS nor from arguments. */
const execArgvExtension = 'none'

const { writeFile } = fsp
let isAdded = false

fsp.writeFile = async (file, text, ...options) => {
  if (path.basename(String(file)) !== 'sea-config.json') return await writeFile(file, text, ...options)
  isAdded = true
  return await writeFile(file, JSON.stringify({ ...JSON.parse(text), execArgv, execArgvExtension }), ...options)
}

process.on('exit', (status) => {
  if (isAdded || status !== 0) return
  console.error('pkg no longer writes sea-config.json by fs.promises.writeFile; adapt sea-options.mjs')
  process.exitCode = 1
})
