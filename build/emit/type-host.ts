/** Gives TypeScript's compiler the files of a project: sources as they were checked, libraries as text, the rest from the disk. */
import * as fs from 'node:fs'
import path from 'node:path'
import type { ts as TS } from 'ts-morph'
import { sdkName } from '../declaration.ts'
import type { SourceTexts } from '../sources.ts'
import { libraryFiles, libraryFolder, ts } from '../typescript.ts'
import { roleNames } from './role-names.ts'

interface Parsed {
  /** Equal for equal texts. */
  version: string
  file: TS.SourceFile
}

/** One file's text. It is read only if the version is another than that of the file that was parsed before. */
interface Text {
  version: string
  read: () => string
}

export interface TypeHostOptions {
  /** Absolute path of the project. */
  root: string
  /** Absolute path of the package that runs this build. Imports of the SDK lead there. */
  packageRoot: string
  /** Names of the declared roles. `roles.d.ts` on the disk may be that of an earlier build. */
  roles: readonly string[]
}

/** Parsed files are kept for as long as the host, because libraries and packages take longer to parse than a project. */
export class TypeHost {
  /** The generated declarations. The file on the disk is never read. */
  readonly rolesFile: string
  readonly #root: string
  readonly #roles: readonly string[]
  readonly #sdk: string | undefined
  readonly #parsed = new Map<string, Parsed>()

  constructor({ root, packageRoot, roles }: TypeHostOptions) {
    this.#root = root
    this.#roles = roles
    this.rolesFile = path.join(root, '.stack', 'roles.d.ts')
    const sources = ['src/sdk/index.ts', 'types/src/sdk/index.d.ts'].map((file) => path.join(packageRoot, file))
    this.#sdk = sources.find((file) => fs.existsSync(file))
  }

  /** @param texts what was checked: a file may have changed on the disk since. */
  compilerHost(options: TS.CompilerOptions, texts: SourceTexts): TS.CompilerHost {
    const { rolesFile } = this
    const resolutions = ts.createModuleResolutionCache(this.#root, (name) => name, options)
    return {
      fileExists: (file) => file === rolesFile || file.startsWith(libraryFolder) || ts.sys.fileExists(file),
      readFile: (file) => ts.sys.readFile(file),
      directoryExists: (folder) => ts.sys.directoryExists(folder),
      getDirectories: (folder) => ts.sys.getDirectories(folder),
      realpath: (file) => ts.sys.realpath?.(file) ?? file,
      getCurrentDirectory: () => this.#root,
      getDefaultLibFileName: (given) => `${libraryFolder}/${ts.getDefaultLibFileName(given)}`,
      getDefaultLibLocation: () => libraryFolder,
      getCanonicalFileName: (file) => file,
      useCaseSensitiveFileNames: () => true,
      getNewLine: () => '\n',
      writeFile() {},
      getSourceFile: (file, given) => this.#sourceFile(file, given, texts),
      resolveModuleNameLiterals: (literals, containing, redirected, given) =>
        literals.map(({ text }) => {
          if (text === sdkName && this.#sdk)
            return { resolvedModule: { resolvedFileName: this.#sdk, extension: path.extname(this.#sdk) } }
          return ts.resolveModuleName(text, containing, given, ts.sys, resolutions, redirected)
        }),
    }
  }

  #sourceFile(
    file: string,
    options: TS.ScriptTarget | TS.CreateSourceFileOptions,
    texts: SourceTexts,
  ): TS.SourceFile | undefined {
    const text = this.#textOf(file, texts)
    if (text === undefined) return undefined
    const before = this.#parsed.get(file)
    if (before && before.version === text.version) return before.file
    const given = typeof options === 'object' ? options : { languageVersion: options }
    const parsed = ts.createSourceFile(file, text.read(), { ...given, jsDocParsingMode: ts.JSDocParsingMode.ParseNone })
    this.#parsed.set(file, { version: text.version, file: parsed })
    return parsed
  }

  #textOf(file: string, texts: SourceTexts): Text | undefined {
    if (file === this.rolesFile) return { version: 'roles', read: () => roleNames(this.#roles) }
    if (file.startsWith(libraryFolder)) {
      const text = libraryFiles().get(path.posix.basename(file))
      return text === undefined ? undefined : { version: 'library', read: () => text }
    }
    const source = texts.textOf(file)
    if (source !== undefined) return { version: source, read: () => source }
    const found = fs.statSync(file, { throwIfNoEntry: false })
    return found && { version: `${found.mtimeMs} ${found.size}`, read: () => fs.readFileSync(file, 'utf8') }
  }
}
