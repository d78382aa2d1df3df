/** Refusals of classes, decorators and what they are given. */
import { decoratorNames, type LostImport } from '../declaration.ts'
import { define, didYouMean } from './definition.ts'

type Lost = Pick<LostImport, 'kind' | 'alias' | 'relative'>

export const declarations = {
  'syntax-error': define<{ reason: string }>({
    summary: 'A file of the project does not parse',
    why: 'The bundler would stop at the same place, and what the parser makes of the rest is a guess. The rest of the file is judged once it parses.',
    message: ({ reason }) => `this file does not parse: ${reason}`,
    fix: () => 'correct the syntax; the rest of this file is judged once it parses',
  }),
  'file-unreadable': define<{ reason: string; isOfSystem: boolean }>({
    summary: 'The build fails while it reads one file',
    why: 'Nothing that this file declares is known, so a route or a rule in it would be missing. The other files are judged all the same; what they take from this one is judged once it can be read.',
    message: ({ reason, isOfSystem }) =>
      isOfSystem ? `this file cannot be opened: ${reason}` : `the build failed while it read this file: ${reason}`,
    fix: ({ isOfSystem }) =>
      isOfSystem
        ? 'let the user who builds read the file, or move it out of the folder of the entry'
        : 'this is a defect of the build: please report it with this file; until then, split the file or simplify what is deeply nested in it',
  }),
  'import-lost': define<{ specifier: string; count: number } & Lost>({
    summary: 'An import leads to no file, or is of a package that is not installed',
    why: 'The project could not be bundled. A class or a constant that comes from there is unknown to the build too, so what depends on it would be refused for the wrong reason. It is judged once the import leads somewhere.',
    message: ({ specifier, count, kind, alias }) => {
      const times = count > 1 ? ` (${count} imports)` : ''
      if (kind === 'package') return `the package "${specifier}" is not installed${times}`
      if (kind === 'builtin') return `the import "${specifier}" leads to no package${times}`
      if (kind === 'file') return `the import "${specifier}" leads to no file${times}`
      return `the import "${specifier}" leads to no file: tsconfig.json has no path "${alias!.pattern}"${times}`
    },
    fix: ({ specifier, kind, alias, relative }) => {
      if (kind === 'builtin') return `a module of Node has a prefix: write "node:${specifier}"`
      if (kind === 'alias') {
        const entry = `"paths": { "${alias!.pattern}": ["${alias!.target}"] }`
        return `add \`${entry}\` to the \`compilerOptions\` of tsconfig.json, or write "${relative}"`
      }
      if (kind === 'prefix') {
        const entry = `"paths": { "${alias!.pattern}": ["${alias!.target}"] }`
        return `say in the \`compilerOptions\` of tsconfig.json where these files are, for example \`${entry}\``
      }
      if (kind === 'package') {
        return specifier.startsWith('@nestjs/')
          ? 'take what `@stack/backend` has of it from there, and remove the rest'
          : `install it, for example with \`npm install ${specifier}\`, or remove what uses it`
      }
      return /^\.{1,2}(?:\/|$)/.test(specifier)
        ? 'correct the path'
        : 'correct the path; what an alias stands for is said by `paths` in the `compilerOptions` of tsconfig.json'
    },
  }),
  'bundle-failed': define<{ reason: string }>({
    summary: 'The bundler cannot resolve an import, find an export, or compile a file',
    why: 'Nothing is installed where the worker runs: what it imports is in the bundle, or is a module of the runtime such as `node:crypto`. A name that its module does not export would be `undefined` at its first use.',
    message: ({ reason }) => `the project does not bundle: ${reason}`,
    fix: () => 'a package must be installed, a file must exist, a name must be exported, a Node module is `node:…`',
  }),
  'entry-without-module': define<{ entry: string; isMissing: boolean }>({
    summary: 'The entry is missing, or holds no class with @Module',
    why: 'The root module is where the build begins: what it lists, and what its imports list, becomes the application. Without one there is no route and no webhook to serve.',
    message: ({ entry, isMissing }) =>
      isMissing
        ? `there is no ${entry}, which must export the root module`
        : `${entry} holds no class with @Module of @stack/backend`,
    fix: () => 'declare and export the root module there: `@Module({ controllers: [] }) export class AppModule {}`',
  }),
  'entry-with-two-modules': define<{ entry: string }>({
    summary: 'The entry holds more than one class with @Module',
    why: 'The module in the entry is the root. Of two, either may be meant, and with the wrong one the routes, the webhooks and the application default of the other could be left out of the worker.',
    message: ({ entry }) => `${entry} holds more than one class with @Module, so the root is not certain`,
    fix: () => 'move every module but the root into a file of its own',
  }),
  'default-export': define<{ name: string }>({
    summary: 'A class with @Module, @Controller, @Webhook or @Injectable is a default export',
    why: 'The generated entry imports the classes that it constructs by name, and a default export has none. Modules follow the same rule: the name is what refusals, the table and the log call a class by.',
    message: ({ name }) => `the class ${name} is a default export`,
    fix: ({ name }) => `export it by name: \`export class ${name === 'default' ? 'MyClass' : name}\``,
  }),
  'class-not-exported': define<{ name: string }>({
    summary: 'A decorated class, or one that a module provides, is not exported',
    why: 'The generated entry imports the classes that it constructs from their files and could not reach this one, so the bundle would fail. A module is not constructed, but another file can only list it when it is exported.',
    message: ({ name }) => `the class ${name} is not exported`,
    fix: ({ name }) => `write \`export class ${name}\``,
  }),
  'class-abstract': define<{ name: string; role: string; isListed?: boolean }>({
    summary: 'An abstract class has a decorator of the SDK, or stands in the `providers` of a module',
    why: '`abstract` is erased: the container would construct the class all the same, and a call of a member that only a subclass implements would end in 500. On a module, which is never constructed, the keyword would mean nothing.',
    message: ({ name, role, isListed }) =>
      isListed
        ? `the class ${name} stands in \`providers\` and is abstract`
        : `the class ${name} has @${role} and is abstract`,
    fix: ({ name, role, isListed }) =>
      isListed
        ? `list \`{ provide: ${name}, useClass: … }\` with the class that extends it, or remove \`abstract\``
        : `remove \`abstract\`, or move @${role} to the class that extends it`,
  }),
  'class-with-two-roles': define<{ name: string; roles: string }>({
    summary: 'A class has more than one of @Module, @Controller and @Webhook',
    why: 'A module lists each kind of class in a list of its own, and what stands there is served as that kind alone. A controller that is also a webhook would serve its routes, and every delivery to it would get 404.',
    message: ({ name, roles }) => `the class ${name} has ${roles}: a class is one of them`,
    fix: () => 'split the class, and keep one decorator on each part',
  }),
  'decorator-twice': define<{ name: string }>({
    summary: 'A decorator that counts once stands twice on the same class or parameter',
    why: 'Only the first would be read: another path, name or rule that the second gives would be lost without a word.',
    message: ({ name }) => `@${name} stands here twice`,
    fix: () => 'remove one of them',
  }),
  'decorator-not-called': define<{ name: string; form: string }>({
    summary: 'A decorator stands without its parentheses',
    why: 'What a decorator declares stands in its call. The decorator of a route would make no row of the table without one, so that path would answer 404; any other would be read as if it had no arguments.',
    message: ({ name }) => `@${name} must be called`,
    fix: ({ form }) => `write \`${form}\``,
  }),
  'decorator-not-imported': define<{ name: string; near?: string | undefined; hint?: string | undefined }>({
    summary: 'A decorator is neither imported nor declared in its file',
    why: 'A decorator is known by what it is imported as, so this one would be neither read nor erased. What it declares would be missing, and the worker would not start: the name is not defined.',
    message: ({ name, near }) => `@${name} is not imported${didYouMean(near)}`,
    fix: ({ name, near, hint }) => {
      if (near) return `write \`@${near}\`, and import it from '@stack/backend'`
      if (hint) return hint
      return decoratorNames.has(name)
        ? `write \`import { ${name} } from '@stack/backend'\``
        : 'import it from the file that declares it, or remove it'
    },
  }),
  'decorator-as-value': define<{ name: string }>({
    summary: 'A decorator of the SDK is used as a value: in a variable, as an argument, behind a function',
    why: 'Decorators are read where they stand and erased. One that reaches a class through a variable or a function cannot be read, so its route or rule would be missing; and it throws when it is executed, which keeps the worker from starting.',
    message: ({ name }) => `${name} is used as a value: a decorator is read where it stands, so this one would be lost`,
    fix: ({ name }) => `write \`@${name}(…)\` on the class, method or parameter itself`,
  }),
  'decorator-misplaced': define<{ name: string; belongs: string }>({
    summary: 'A decorator of the SDK stands where it does not belong',
    why: 'Nothing reads it there, and the build erases it all the same: the route, the event or the value that it declares would be missing without a word.',
    message: ({ name, belongs }) => `@${name} belongs on ${belongs}`,
    fix: () => 'move it there, or remove it',
  }),
  'decorator-unknown': define<{ name: string; near: string | undefined; hint: string | undefined }>({
    summary: 'A decorator is imported from `@stack/backend`, which has no decorator of that name',
    why: 'It would be erased like those that exist, and declare nothing: what it was meant for would be missing without a word.',
    message: ({ name, near, hint }) => `@stack/backend has no decorator "${name}"${hint ? '' : didYouMean(near)}`,
    fix: ({ near, hint }) => hint ?? (near ? `import and use \`${near}\`` : 'remove it'),
  }),
  'option-not-constant': define<{ what: string; text: string; isClass?: boolean }>({
    summary: 'What a decorator is given cannot be known at build',
    why: 'Decorators are erased: paths, names and rules go into the route table as values, and nothing computes them at run time. One that is not known can be neither checked nor written there, and a guessed rule could leave a route open.',
    message: ({ what, text }) => `${what} must be known at build, and \`${text}\` is not`,
    fix: ({ isClass }) =>
      isClass
        ? 'list the class itself, by the name that a file of this project exports'
        : 'write the literal, or a `const` of this file or an imported one',
  }),
  'option-unknown': define<{ key: string; where: string; known: string[]; near: string | undefined }>({
    summary: 'An option has a name that nobody reads',
    why: 'It would have no effect. With `auth` misspelled the rule is left out; with `role` misspelled inside a rule, the route asks for no more than a signed-in user.',
    message: ({ key, where, near }) => `unknown option "${key}" in ${where}${didYouMean(near)}`,
    fix: ({ known, near }) => (near === undefined ? `known here: ${known.join(', ')}` : `write \`${near}\``),
  }),
  'option-missing': define<{ key: string; where: string; form: string }>({
    summary: 'A decorator lacks an option that it needs',
    why: 'The required options are those a delivery is verified with: `secret`, its `env`, and four of a `signature`. Without one of them there would be nothing to verify with, or the scheme would be guessed.',
    message: ({ key, where }) => `${where} has no "${key}"`,
    fix: ({ form }) => `add \`${form}\``,
  }),
  'option-malformed': define<{ what: string; expected: string; found: string }>({
    summary: 'An option or argument of a decorator has a value of the wrong kind or range',
    why: "The value goes into the route table as it is. `auth: 'staff'` would ask for no more than a signed-in user, an object among the providers would be built by nobody, and with `status: 204` every JSON answer would end in 500.",
    message: ({ what, expected, found }) => `${what} must be ${expected}, not ${found}`,
    fix: ({ expected }) => `give it ${expected}`,
  }),
  'option-twice': define<{ key: string; where: string }>({
    summary: 'An option stands twice in the same object',
    why: 'One of the two would be dropped without a word; in JavaScript the last one counts. Where it is `auth`, a reader could take the route to be gated by a rule that is not in force.',
    message: ({ key, where }) => `"${key}" stands twice in ${where}`,
    fix: () => 'keep one of them',
  }),
  'argument-missing': define<{ name: string; what: string; form: string }>({
    summary: 'A decorator lacks an argument that it needs',
    why: '`@Param()`, `@Query()` and `@Header()` would have no name to look up, so the parameter would be `undefined` on every request; `@On()` would bind its method to no event.',
    message: ({ name, what }) => `@${name} needs ${what}`,
    fix: ({ form }) => `write \`${form}\``,
  }),
  'argument-superfluous': define<{ name: string; takes: string }>({
    summary: 'A decorator is given more arguments than it takes',
    why: "Nothing would read the argument, although it looks as if it were in force: `@User('id')` would still hand over the whole user.",
    message: ({ name, takes }) => `@${name} takes ${takes}`,
    fix: () => 'remove what is too much',
  }),
  'handler-unfit': define<{ name: string; reason: string }>({
    summary: 'A decorated member is no public method of the instance with a name known at build',
    why: 'The runtime calls a method of the instance by the name in the table. One that is static, `#private` or without a body is not there, and every request would get 500; the body of a generator would never run; a computed name cannot stand in the table.',
    message: ({ name, reason }) => `${name} cannot serve as a handler: it is ${reason}`,
    fix: () => 'a handler is a public method of the instance, with a name that is known at build',
  }),
  'handler-twice': define<{ name: string; className: string }>({
    summary: 'A handler shares its name with another member of its class',
    why: 'A class keeps one value under each name: a later method replaces an earlier one, and a field hides a method. The route would call the other member, under the gate and with the arguments of this one.',
    message: ({ name, className }) =>
      `${className} has two members named ${name}: only one of them is there at run time`,
    fix: () => 'give one of them another name',
  }),
  'decorator-foreign': define<{ name: string; from: string; known: string | undefined; hint: string | undefined }>({
    summary: "A decorator has a name of the SDK's, or is a server framework's, and comes from elsewhere",
    why: 'A decorator is known by what it is imported as, so `@Get` from `@nestjs/common` makes no row of the route table: its path would answer 404. It is not erased either, but runs as the worker loads, for a framework that is not there.',
    message: ({ name, from }) =>
      `this @${name} comes from ${from.includes(' ') ? from : `"${from}"`}, so the build does not read it`,
    fix: ({ known, hint }) =>
      hint ?? (known ? `import ${known} from '@stack/backend'` : 'remove it: nothing here reads what it sets'),
  }),
  'tsconfig-without-decorators': define<object>({
    severity: 'warning',
    summary: '`tsconfig.json` does not set `experimentalDecorators`',
    why: "The editor and `tsc` then report the decorators of routes and of parameters as errors. The build erases the SDK's either way, but compiles a project's own as the TC39 kind, which is called with other arguments and cannot stand on parameters.",
    message: () => 'tsconfig.json does not set `experimentalDecorators`',
    fix: () => 'write `"experimentalDecorators": true` in `compilerOptions`',
  }),
  'tsconfig-with-metadata': define<object>({
    severity: 'warning',
    summary: '`tsconfig.json` sets `emitDecoratorMetadata`',
    why: 'Nothing here emits or reads metadata: the bundler ignores the flag without a word, and the build reads the types of a constructor from the source. A library that asks for `design:paramtypes` at run time finds nothing.',
    message: () => 'tsconfig.json sets `emitDecoratorMetadata`: no metadata is emitted, and none is needed',
    fix: () => 'write `"emitDecoratorMetadata": false`, or remove it',
  }),
  'wrapper-not-called': define<{ name: string; kind: string; method: string; instead: string }>({
    severity: 'warning',
    summary: 'A provider is a guard, pipe, exception filter, interceptor or middleware of another framework',
    why: 'Between a request and its handler runs what the route declares and nothing else: identity, rule, schemas. Such a class never runs, so what it should refuse, convert or record passes by. A guard that never runs leaves its routes as open as their rule says.',
    message: ({ name, kind, method }) =>
      `${name} is ${/^[aeiou]/.test(kind) ? 'an' : 'a'} ${kind}, and nothing calls its \`${method}\``,
    fix: ({ instead }) => instead,
  }),
  'hook-not-called': define<{ name: string; className: string }>({
    severity: 'warning',
    summary: 'A class has a method with the name of a lifecycle hook that other frameworks call',
    why: 'Nobody calls it: an instance is built at its first use, lives as long as its isolate, and is never told of an end. What such a method would prepare is not there.',
    message: ({ name, className }) =>
      name === 'configure'
        ? `nothing calls ${className}.configure: there is no middleware`
        : `nothing calls ${className}.${name}: there are no lifecycle hooks`,
    fix: ({ name }) =>
      name === 'configure'
        ? 'do it in the handlers, or in what they call; who may call a route is said by its option `auth`'
        : 'do it in the constructor where it needs no request, else in the handler that needs it',
  }),
}
