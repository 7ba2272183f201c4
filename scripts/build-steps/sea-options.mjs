// Loaded before pkg: adds options to the configuration of the executable that pkg does not support.
import fsp from 'node:fs/promises'
import path from 'node:path'

/** Size of the young generation in MB. The default of 16 costs memory and serves no more requests. */
const execArgv = ['--max-semi-space-size=4']

const { writeFile } = fsp
let isAdded = false

fsp.writeFile = async (file, text, ...options) => {
  if (path.basename(String(file)) !== 'sea-config.json') return await writeFile(file, text, ...options)
  isAdded = true
  return await writeFile(file, JSON.stringify({ ...JSON.parse(text), execArgv }), ...options)
}

process.on('exit', (status) => {
  if (isAdded || status !== 0) return
  console.error('pkg no longer writes sea-config.json by fs.promises.writeFile; adapt sea-options.mjs')
  process.exitCode = 1
})
