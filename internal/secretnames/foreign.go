package secretnames

import (
	"slices"
	"strings"
)

// foreignParts lists parts of names that mean a password, a key or a code in languages other than English. Separators
// are removed.
var foreignParts = []string{
	"passwort", "kennwort", "zugangscode", "geheimnis", "losungswort", // German
	"motdepasse", "motpasse", "cleapi", "cleprivee", "clesecrete", "codeacces", // French
	"contrasena", "contraseña", "contrasenia", "claveacceso", "claveapi", "claveprivada", "clavesecreta", // Spanish
	"senhausuario", "chaveapi", "chaveprivada", "chavesecreta", "chaveacesso", // Portuguese
	"parolachiave", "chiaveapi", "chiaveprivata", "codiceaccesso", "parolaordine", // Italian
	"wachtwoord", "toegangscode", "geheimesleutel", // Dutch
	"losenord", "lösenord", "adgangskode", "kodeord", "passord", // Swedish, Danish, Norwegian
	"salasana", "tunnussana", // Finnish
	"hasło", "kluczapi", "kluczprywatny", // Polish
	"heslo", "jelszo", "jelszó", // Czech, Slovak, Hungarian
	"пароль", "парол", "секрет", // Russian, Ukrainian, Bulgarian
	"şifre", "parolası", // Turkish
	"κωδικός", "συνθηματικό", // Greek
	"密码", "密碼", "口令", "密钥", "密鑰", "令牌", "パスワード", "暗証番号", "秘密鍵", "비밀번호", "암호", // Chinese, Japanese, Korean
	"katasandi", "matkhau", // Indonesian, Vietnamese
	"كلمةالمرور", "סיסמה", "पासवर्ड", // Arabic, Hebrew, Hindi
}

// foreignWords lists words with these meanings that count only as a whole word, because they are also parts of other
// words.
var foreignWords = []string{"geheim", "mdp", "clave", "senha", "parol", "parola", "haslo", "sifre", "sandi", "mima", "miyao", "lozinka", "geslo", "jeton", "anahtar", "sleutel", "kenncode"}

// foreign reports whether the words of a name mean a credential in a language other than English.
func foreign(words []string) bool {
	joined := strings.Join(words, "")
	return slices.ContainsFunc(foreignParts, func(part string) bool { return strings.Contains(joined, part) }) ||
		slices.ContainsFunc(words, func(w string) bool { return slices.Contains(foreignWords, w) })
}
