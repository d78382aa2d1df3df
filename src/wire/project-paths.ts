/** The paths of a project's folder, relative to it (contract 1.3, 1.5 and 1.6). */
export const projectPaths = {
  /** Names the project, its entry and its environments. The folder that holds this file is the project's root. */
  project: 'stack/project.json',
  /** Declares the application roles. */
  roles: 'stack/roles.json',
  /** Declares the templates of the project's own messages, one file each. */
  templates: 'stack/templates',
  /** Holds the snapshot of public clients of each platform, which `stack link` writes. */
  oauth: 'stack/oauth',
  /** Holds the project's schema as numbered SQL files. */
  migrations: 'migrations',
  /** Sets bindings of the local backend worker. */
  devVars: '.dev.vars',
  /** Holds everything that the build and the local stack write. */
  generated: '.stack',
  /** Describes the local stack while it runs: its process, its address and its keys. */
  localRecord: '.stack/local.json',
  /** Names the environment that `stack env use` chose. */
  selection: '.stack/selection.json',
} as const
