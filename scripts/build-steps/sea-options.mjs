// Loaded before pkg: adds to Node's own configuration of the executable what pkg does not hand on to it.
import fsp from 'node:fs/promises'
import path from 'node:path'

/** The space for what is new, in MB. V8 would let it grow to 16, which serves no more requests and costs memory. */
const execArgv = ['--max-semi-space-size=4']

const { writeFile } = fsp
let isAdded = false

fsp.writeFile = async (file, text, ...more) => {
  if (path.basename(String(file)) !== 'sea-config.json') return await writeFile(file, text, ...more)
  isAdded = true
  return await writeFile(file, JSON.stringify({ ...JSON.parse(text), execArgv }), ...more)
}

process.on('exit', (status) => {
  if (isAdded || status !== 0) return
  console.error('pkg writes the configuration of the executable in another way now')
  process.exitCode = 1
})
