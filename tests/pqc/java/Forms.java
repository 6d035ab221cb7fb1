import java.nio.file.Files;
import java.nio.file.Path;
import java.util.HexFormat;
import org.bouncycastle.crypto.params.AsymmetricKeyParameter;
import org.bouncycastle.pqc.crypto.mlkem.MLKEMPrivateKeyParameters;
import org.bouncycastle.pqc.crypto.util.PrivateKeyFactory;
import org.bouncycastle.pqc.crypto.util.PrivateKeyInfoFactory;
import org.bouncycastle.pqc.crypto.util.SubjectPublicKeyInfoFactory;

/** Reads each file's private key, and prints dk, the public key and the private key as it writes them. */
class Forms {
    public static void main(String[] files) throws Exception {
        for (String file : files) {
            AsymmetricKeyParameter read = PrivateKeyFactory.createKey(Files.readAllBytes(Path.of(file)));
            MLKEMPrivateKeyParameters key = (MLKEMPrivateKeyParameters) read;
            print(key.getEncoded());
            print(SubjectPublicKeyInfoFactory.createSubjectPublicKeyInfo(key.getPublicKeyParameters()).getEncoded());
            print(PrivateKeyInfoFactory.createPrivateKeyInfo(key).getEncoded());
        }
    }

    private static void print(byte[] data) {
        System.out.println(HexFormat.of().formatHex(data));
    }
}
