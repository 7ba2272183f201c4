// Copies what an operator reads and installs beside the executable: profiles, documents, completions, and what other parts of the repository render.
import { execFileSync } from 'node:child_process'
import fs from 'node:fs'
import path from 'node:path'
import { renderBook } from '../book-steps/book.mjs'

const shells = { bash: 'platform.bash', zsh: '_platform', fish: 'platform.fish' }

export function writeDocuments({ root, folder, executable }) {
  copyTree(path.join(root, 'profiles'), path.join(folder, 'profiles'), /\.yaml$/)
  copyTree(path.join(root, 'docs'), path.join(folder, 'docs'), /\.(md|json|yaml|py|tpl)$/)
  fs.writeFileSync(path.join(folder, 'docs/book.html'), renderBook(root))
  for (const name of ['README.md', 'CHANGELOG.md', 'SECURITY.md', 'LICENSE'])
    fs.copyFileSync(path.join(root, name), path.join(folder, name))
  fs.mkdirSync(path.join(folder, 'completions'))
  for (const [shell, name] of Object.entries(shells))
    fs.writeFileSync(
      path.join(folder, 'completions', name),
      execFileSync(executable, ['completion', shell], { env: {} }),
    )
}

/** Vectors of the file-drop format are for developers, and have names that a bundle does not allow. */
function copyTree(from, to, kept) {
  const files = fs.readdirSync(from, { recursive: true }).filter((file) => kept.test(file) && !file.includes('vectors'))
  for (const file of files) {
    fs.mkdirSync(path.dirname(path.join(to, file)), { recursive: true })
    fs.copyFileSync(path.join(from, file), path.join(to, file))
  }
}
