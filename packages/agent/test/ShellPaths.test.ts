import { assert, describe, it } from "@effect/vitest"
import { Effect, Schema } from "effect"
import { seen } from "./SeenPaths.ts"

describe("a shell command", () => {
  it.each([
    "echo x > .git/config", "echo x >> \"$HOME/.nimlet/config.json\"", "echo x >| ~/.nimlet/trust.json", "make &> .git/log", "make >& .git/log", "true <> .git/x", "2>.nimlet/x ls", "> .git/index",
    "cat a | tee -a .git/hooks/pre-commit", "echo $(cat a > .git/x)", "x=`touch .git/x`", "ls > >(tee .git/x)", "f() { rm .git/x; }; f", "if true; then touch .nimlet/x; fi", "for i in 1; do cp a .git/x; done",
    "{ echo a; echo b; } > .git/x", "(ls) > .git/x", "cat <<E > .git/hooks/x\nhi\nE", "[[ -n $(rm .git/x) ]]", "case x in x) touch .git/x;; esac", "true && touch .git/x || :", "! rm .git/x",
    "cp a .git/hooks/post-merge", "cp -t .git/hooks a b", "cp --target-directory=.git/hooks a", "mv .git/hooks/a b", "mv a .git", "ln -s /evil .git/hooks/x", "install -m 755 a .git/hooks/x", "rsync -a a/ .pi/extensions/",
    "sed -i s/a/b/ .git/config", "sed -E -i.bak s/a/b/ .git/config", "perl -pi -e s/a/b/ .git/config", "dd if=/dev/zero of=.git/x", "chmod +x .git/hooks/a", "truncate -s 0 .git/x", "sort a -o .git/x", "curl u -o .git/hooks/x",
    "gcc a.c --output=.git/x", "find .git -name x -delete", "find .git/hooks -exec chmod +x {} +", "sudo tee .git/x", "env A=1 rm .git/x", "timeout 5 rm -rf .git", "nice -n 10 sudo -u me touch .git/x", "xargs rm .git/x",
    "sh -c 'echo x > .git/x'", "bash -lc \"touch .git/x\"", "sudo bash -c 'sh -c \"rm .git/x\"'", "eval 'rm .git/x'", "eval rm .git/x", "trap 'rm .git/x' EXIT", "bash <<E\nrm .git/x\nE", "/bin/rm .git/x", "\"rm\" .git/x", "r\\m .git/x",
    "cd .git && rm -f index.lock", "cd .git/hooks; echo x > ./pre-commit", "pushd .nimlet\ntouch x", "cd sub/../.git && touch x", "cd sub && rm ../.git/x", "touch a/./b/../.git/x", "rm -rf .*", "rm -rf .g*", `rm -rf .g${"*".repeat(20_000)}`, "rm .[g]it/x", "rm .gi?/x",
    "find . -name a -exec cp {} .git/x \\;", "find a -exec tee .git/x \\;", "find . -execdir touch ../p/.git/x {} +", "find a -exec true \\; -ok sh -c 'rm .git/x' \\;", "find a -fprint .git/x", "find a -fprintf .git/x %p",
    "curl -so .git/x u", "git diff --output=.git/x", "git log --output .git/x", "builtin cd .git; touch x", "command cd .git && rm x", "touch .{git,x}/y", "touch {a,.git/b}", "rm '.git'/x", "rm .g'i't/x", "rm .g\\it/x", "rm $'.git/x'", "touch .GIT/x", "touch .agents/skills/a/SKILL.md", "cat a > $x/.git/y", "echo 'unclosed\" > .git/x'; rm .git/x",
    "ln -s .git L; touch L/x", "ln -s .git L", "ln .git/config c", "ln -st . .git", "cd .git; ln -s . ../L", "cp -l .git/config c", "cp -rs .git g", "cp a .git/ --suffix .bak", "cp x .git/", "install -d .git/x a", "install -Dm755 a .git/hooks/x",
    "f() { rm \"$1\"; }; f .git/x", "f() { local p=$1; touch \"$p\"; }; f .git/x", "function f { tee \"$@\"; }; f a .git/x", "f() { shift; rm $1; }; f a .git/x", "g() { f \"$1\"; }; f() { rm $1; }; g .git/x", "f() { cd .git; }; f; touch x",
    "for f in .git/hooks/*; do rm $f; done", "for f in a .git/x; do cp a \"$f\"; done", "set -- .git/x; for f; do rm $f; done", "select f in .git/x; do rm $f; done", "while rm $x; do x=.git/x; done", "X=.git/x; echo > $X", "X=.git; touch ${X}/x", "X=.git; Y=$X/hooks; touch $Y/a",
    "D=.g; D+=it; touch $D/x", "A=(a .git/x); rm \"${A[@]}\"", "rm ${X:-.git/x}", "X=.git/x.y; rm ${X%.y}", "X='a .git/x'; rm $X", "set -- .git/x; rm $1", "bash -c 'tee \"$@\"' _ a .git/x", "printf -v X %s .git/x; rm $X",
    "bash <<< 'rm .git/x'", "env -S 'rm .git/x'", "watch rm .git/x", "su me -c 'rm .git/x'", "nice -n 5 rm .git/x", "xargs -n 1 rm .git/x", "parallel rm ::: .git/x", "rg --pre 'tee .git/x' a",
    "uniq a .git/x", "xxd -r a .git/x", "tree -o .git/x", "less -o .git/x a", "gawk -i inplace '{print}' .git/x", "find .git -exec rm {} +",
    "tar cf .git/x a", "tar czf .git/x.tgz a", "tar -c -f .git/x a", "tar -cf.git/x a", "tar --create --file=.git/x a", "tar -xf a -C .git", "tar xf a --directory=.git", "tar xf a .git/hooks/x", "tar -cf a --remove-files .git/x", "tar xf a --to-command='tee .git/x'",
    "unzip a -d .pi/extensions", "unzip a .git/hooks/x", "zip .git/x.zip a", "zip -m a.zip .git/x", "git config core.hooksPath /tmp/h", "git config --local alias.st '!rm x'", "git config set core.fsmonitor ./x", "git config --unset core.hooksPath", "git config -f .git/config a.b c",
    "cd .git || cd b; touch x", "(cd .git && touch x)", "cd .git; (cd ..); touch x", "if a; then cd .git; fi; touch x", "cd a && cd ../.git && touch x", "cd .git &\ncd .git; touch x", "touch $PWD/.git/x", "cd .git; touch $PWD/x", "touch $(pwd)/.git/x", "touch \"$(git rev-parse --show-toplevel)/.git/x\""
  ])("is seen to change a protected file by %j", (source) => assert.strictEqual(seen(source), "changes"))

  it.each([
    "python3 -c \"open('.git/x','w')\"", "node e.mjs .git/x", "node e.mjs --out=a --dir=.git", "git checkout -- .nimlet/config.json", "git -C .git config a b", "ssh host 'rm .git/x'", "export X=.git/x; node e.mjs", "X=.git/x node e.mjs",
    "ls .git/hooks | xargs rm", "find .git -type f | parallel rm", "python3 - <<E\nopen('.git/x', 'w')\nE", "npm run x -- .git/y",
    "echo 'unclosed .git/x", "bash script.sh .git", "perl -e 'unlink \".git/x\"'", "sudo ./x .git/y",
    "sudo ./x cat .git/y", "env ./x cat .git/y", "timeout 5 ./x ls .git", "sed 's/a/b/w .git/x' f", "awk '{ print > \".git/x\" }' a", "sed -n '/a/w .git/x' f", "ls -d .git/hooks/* | while read f; do rm \"$f\"; done", "while read -r f; do rm $f; done <<E\n.git/x\nE",
    "rm $(ls -d .git/hooks/*)", "rm `cat l`; echo .git/x > l", "printf .git/x | xargs rm", "xargs rm <<< .git/x", "echo 'rm .git/x' | sh", "for f in $(find .git -type f); do rm $f; done", "X=$(ls -d .git/*); rm $X", "f=.git/x; node e.mjs $f",
    "mapfile -t A < <(find .git -type f); rm \"${A[@]}\"", "f() { node e.mjs \"$1\"; }; f .git/x", "find .git -exec node e.mjs {} +", "rsync -a .git/ b/", "scp .git/x host:", "cd \"$(git rev-parse --git-dir)\"; cat .git/x; touch y", "python3 <<< \"open('.git/x', 'w')\"", "gzip .git/x", "source .nimlet/env", "git -C .git config a.b c", "alias x='rm .git/x'"
  ])("is seen to name a protected file by %j", (source) => assert.strictEqual(seen(source), "names"))

  it.each([
    "cat .git/HEAD", "ls -la .git ~/.nimlet", "git status", "git log -- .nimlet", "git add .nimlet/config.json", "grep -r x . --exclude-dir=.git", "grep -rl a . --exclude-dir .git | head", "tar --exclude=.git -czf a.tgz .", "rsync -a --exclude .git a/ b/",
    "find . -path ./.git -prune -o -type f -print", "find . -exec cp {} out +", "command ls .git; touch x", "git diff --stat .git", "find . -type f -not -path './.git/*' -exec sed -i s/a/b/ {} +", "cat .git/HEAD > head.txt", "diff .git/config a", "[ -d .git ] && echo yes", "test -f .git/x", "sed -n 1p .git/config", "wc -l < .git/config",
    "touch .gitignore .github/x", "rm -rf node_modules", "rm *", "rm -rf dist/*", "echo x > a 2>&1", "cd .git && ls", "cd .git; ls; cd ..; touch a", "npm test 2>/dev/null", "mkdir -p src/git", "echo '.git/x'", "cat <<E > a\n.git/x\nE", "", "# .git", "npx eslint --ignore-pattern .git .",
    "cp .git/config a", "cp -r .git b", "tar czf a.tgz .git", "tar tf a.tar .git", "tar -czf a.tgz --exclude=.git .", "zip -r a.zip . -x '.git/*'", "unzip -l a.zip .git/x", "for f in .git/*; do cat $f; done", "X=.git/HEAD; cat $X", "export X=.git/x", "GIT_DIR=.git git status", "f() { cat \"$1\"; }; f .git/HEAD",
    "find . -not -path './.git/*' -type f | xargs sed -i s/a/b/", "find . ! -path './.git/*' -name '*.ts' -exec sed -i s/a/b/ {} +", "find . -path ./.git -prune -o -type f -print | xargs rm", "git ls-files | grep -v ^.git/ | xargs rm", "grep -rl a --exclude-dir=.git . | xargs sed -i s/a/b/", "ls .git | xargs cat", "find .git -exec cat {} +",
    "T=$(mktemp); cat .git/HEAD > $T", "cat .git/HEAD > \"$(mktemp)\"", "head -1 .git/HEAD > \"$TMPDIR/x\"", "echo \"$(cat .git/HEAD)\" > a", "bash <<E\ncat .git/HEAD\nE", "sed '/.git/d' a > b", "awk '/.git/' a", "git config user.name x", "git config --get core.hooksPath", "git config core.hooksPath", "git config --global alias.a b", "git commit -m 'about .git/x'",
    "(cd .git && ls); touch a", "cd .git && cat HEAD && cd .. && touch a", "cat .git/HEAD | tee a", "timeout 5 cat .git/HEAD", "timeout -s KILL 5 cat .git/HEAD", "test -d .git && mkdir x", "while read l; do echo $l; done < .git/HEAD", "sort -u .git/x", "uniq .git/x"
  ])("is seen to do nothing to one by %j", (source) => assert.strictEqual(seen(source), "nothing"))

  it.each([["$(", ""], ["\"$(", ""], ["( ", ""], ["$((", ""], ["{ ", ""], ["if true; then ", ""], ["sh -c \"", ""], ["${a:-", "}"]])("as deep as %j makes it is named for what it says, if not seen through", (open, close) => {
    assert.notStrictEqual(seen(`${open.repeat(5_000)} rm .git/x ${close.repeat(5_000)}`), "nothing")
  })

  it("of many lines is read as one of few", () => {
    const document = "words of a text that names .git/hooks\n".repeat(5_000)
    assert.strictEqual(seen(`cat > a <<'E'\n${document}E`), "nothing")
    assert.strictEqual(seen(`cat > a <<'E'\n${document}E\nrm .git/x`), "changes")
    assert.notStrictEqual(seen(`echo ${"x ".repeat(50_000)}; rm .git/x`), "nothing")
    assert.notStrictEqual(seen(`${"cd a || ".repeat(90)} x; ${"y b; ".repeat(5_000)} rm .git/x`), "nothing")
  })

  it.each(["node x " + "a.".repeat(50_000), `awk '${"print ".repeat(20_000)}' a`, `awk '${"| ".repeat(20_000)}${"\" ".repeat(20_000)}' a`, `sed '${"w ".repeat(20_000)}' a`, `x=${"a".repeat(5_000)}; echo > ${"${x%*a*}${x/*a*b/c}".repeat(50)}`, `touch ${"$x.".repeat(5_000)}`, `printf ${"%s ".repeat(20_000)}`])("is looked through in a short time (%#)", (source) => {
    // The processor's time, not the clock's: other programs run beside us.
    const before = process.cpuUsage()
    seen(source)
    const { system, user } = process.cpuUsage(before)
    assert.isBelow((user + system) / 1_000, 1_500)
  })

  it.effect.prop("is looked through whatever it is", [Schema.Array(Schema.Literals(["rm", " ", ".git/x", "$(", ")", "`", "'", "\"", "\n", "<<E", "{", "}", ",", ">", "cd ..", "|", "xargs", "\\", "[", "*", "sh -c ", ";", "X=", "$X", "\"$@\"", "$1", "for f in ", "; do ", "; done", "f() {", "f ", "read X", "set -- ", "if a; then ", "; fi", "(", "&&", "||", "ln -s ", "<<< "]))], ([parts]) =>
    Effect.sync(() => void seen(parts.join(""))))
})
