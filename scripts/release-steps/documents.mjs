// Copies and renders what an operator reads and installs beside the executable: profiles, documents, units, man pages, completions.
import fs from 'node:fs'
import path from 'node:path'
import { renderCommandDocuments } from '../../cli/program/command-documents.ts'
import { installationAnswers } from '../../daemon/offline/install/answers.ts'
import { renderSysusers, renderTmpfiles, renderUnits } from '../../daemon/offline/install/service-units.ts'
import { roles } from '../../daemon/roles.ts'
import { renderBook } from '../book-steps/book.mjs'

const completionFiles = { bash: 'platform.bash', zsh: '_platform', fish: 'platform.fish' }

export async function writeDocuments({ root, folder }) {
  copyTree(path.join(root, 'profiles'), path.join(folder, 'profiles'), /\.yaml$/)
  copyTree(path.join(root, 'docs'), path.join(folder, 'docs'), /\.(md|json|yaml|py|tpl|sh|yml|j2)$/)
  fs.writeFileSync(path.join(folder, 'docs/book.html'), renderBook(root))
  for (const name of ['README.md', 'CHANGELOG.md', 'SECURITY.md', 'LICENSE'])
    fs.copyFileSync(path.join(root, name), path.join(folder, name))
  const { completions, manual } = await renderCommandDocuments()
  writeTexts(path.join(folder, 'man'), manual)
  const named = Object.entries(completions).map(([shell, text]) => [completionFiles[shell], text])
  writeTexts(path.join(folder, 'completions'), Object.fromEntries(named))
  writeTexts(path.join(folder, 'units'), renderExampleUnits())
}

/** Of a site with every role and nothing but defaults. */
function renderExampleUnits() {
  const site = { name: 'site', roles: roles.map(({ name }) => name) }
  const answers = installationAnswers.parse({ format: 1, site })
  return {
    ...Object.fromEntries(renderUnits(answers)),
    'tmpfiles.conf': renderTmpfiles(answers),
    'sysusers.conf': renderSysusers(answers),
  }
}

function writeTexts(folder, texts) {
  fs.mkdirSync(folder)
  for (const [name, text] of Object.entries(texts)) fs.writeFileSync(path.join(folder, name), text)
}

/** Vectors of the file-drop format are for developers, and have names that a bundle does not allow. */
function copyTree(from, to, kept) {
  const files = fs.readdirSync(from, { recursive: true }).filter((file) => kept.test(file) && !file.includes('vectors'))
  for (const file of files) {
    fs.mkdirSync(path.dirname(path.join(to, file)), { recursive: true })
    fs.copyFileSync(path.join(from, file), path.join(to, file))
  }
}
